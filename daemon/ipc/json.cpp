#include "ipc/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace fade::ipc {
namespace {

constexpr int kDeepest = 16;
constexpr std::size_t kLongestLine = 2000;

// The parser needs no recursion, but code that walks through the result may.
bool deeper_than_allowed(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if ((c == '[' || c == '{') && ++depth > kDeepest) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

}  // namespace

Result<Json> parse_object(std::string_view text) {
  if (deeper_than_allowed(text)) return fail("the message is nested too deeply", {}, {}, EPROTO);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail("the message is not a JSON object", {}, {}, EPROTO);
  return json;
}

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(key));
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::int64_t> integer(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_number_integer()) return {};
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return {};
  return value->get<std::int64_t>();
}

std::optional<std::uint64_t> natural(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_number_integer() ||
      (!value->is_number_unsigned() && value->get<std::int64_t>() < 0))
    return {};
  return value->get<std::uint64_t>();
}

std::optional<bool> boolean(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_boolean()) return {};
  return value->get<bool>();
}

std::optional<std::string> text(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_string()) return {};
  return value->get<std::string>();
}

std::optional<std::vector<std::string>> texts(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_array()) return {};
  std::vector<std::string> out;
  for (const Json& element : *value) {
    if (!element.is_string()) return {};
    out.push_back(element.get<std::string>());
  }
  return out;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kLongestLine)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) out += fmt::format("\\x{:02x}", byte);
    else out += c;
  }
  return text.size() > kLongestLine ? out + "..." : out;
}

}  // namespace fade::ipc
