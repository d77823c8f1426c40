#include "ipc/message.hpp"

#include <fmt/format.h>

namespace fade::ipc {
namespace {

constexpr std::size_t kLongestMethod = 64;

Result<void> check_version(const Json& json) {
  const auto version = integer(json, "v");
  if (version == kProtocolVersion) return {};
  const std::string theirs = version ? fmt::format("version {}", *version) : "no version";
  return fail("the other side speaks another protocol",
              fmt::format("it says {}, this is version {}", theirs, kProtocolVersion),
              "use fadectl and faded of the same version", EPROTO);
}

std::string enveloped(std::uint64_t id, const char* key, const Json& body) {
  return to_text({{"v", kProtocolVersion}, {"id", id}, {key, body}});
}

}  // namespace

tl::expected<Request, BadRequest> parse_request(std::string_view text) {
  const auto json = parse_object(text);
  if (!json) return tl::unexpected(BadRequest{0, json.error()});
  const std::uint64_t id = natural(*json, "id").value_or(0);
  const auto refuse = [&](Error error) { return tl::unexpected(BadRequest{id, std::move(error)}); };
  if (const auto checked = check_version(*json); !checked) return refuse(checked.error());
  auto method = ipc::text(*json, "method");
  if (id == 0 || !method || method->size() > kLongestMethod)
    return refuse(Error{"the request cannot be understood", "it needs an id above 0 and a method", {}, EPROTO});
  const Json* params = member(*json, "params");
  if (params != nullptr && !params->is_object())
    return refuse(Error{"the request cannot be understood", "params is not an object", {}, EPROTO});
  return Request{id, std::move(*method), params != nullptr ? *params : Json::object()};
}

Result<Message> parse_message(std::string_view text) {
  auto json = parse_object(text);
  if (!json) return tl::unexpected(json.error());
  if (const auto checked = check_version(*json); !checked) return tl::unexpected(checked.error());
  Message message;
  message.id = natural(*json, "id").value_or(0);
  if (const Json* error = member(*json, "error")) {
    message.kind = Message::Kind::Error;
    message.error = error_from(*error);
    return message;
  }
  for (const auto& [key, kind] :
       {std::pair{"event", Message::Kind::Event}, std::pair{"result", Message::Kind::Result}}) {
    const Json* body = member(*json, key);
    if (body == nullptr) continue;
    message.kind = kind;
    message.body = *body;
    return message;
  }
  return fail("the daemon's answer cannot be understood", {}, {}, EPROTO);
}

std::string request_text(const Request& request) {
  return to_text({{"v", kProtocolVersion}, {"id", request.id}, {"method", request.method}, {"params", request.params}});
}

std::string event_text(std::uint64_t id, const Json& body) { return enveloped(id, "event", body); }
std::string result_text(std::uint64_t id, const Json& body) { return enveloped(id, "result", body); }
std::string error_text(std::uint64_t id, const Error& error) { return enveloped(id, "error", error_json(error)); }

Json error_json(const Error& error) {
  return {{"message", error.message}, {"cause", error.cause}, {"fix", error.fix}, {"code", error.code}};
}

Error error_from(const Json& json) {
  return {text(json, "message").value_or(""), text(json, "cause").value_or(""), text(json, "fix").value_or(""),
          static_cast<int>(integer(json, "code").value_or(0))};
}

}  // namespace fade::ipc
