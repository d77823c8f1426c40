// The messages on the socket, version 1. A request names a method and has parameters. Its answer is one result or one
// error, after any number of events (tail). Each message has the request's id.
//   -> {"v":1,"id":7,"method":"attach","params":{"pid":4242}}
//   <- {"v":1,"id":7,"event":{...}}   {"v":1,"id":7,"result":{...}}   {"v":1,"id":7,"error":{"message":...,"code":1}}
#pragma once
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "ipc/json.hpp"

namespace fade::ipc {

inline constexpr std::int64_t kProtocolVersion = 1;

struct Request {
  std::uint64_t id = 0;
  std::string method;
  Json params = Json::object();
};

// A bad request. Its refusal has the request's id if it could be read, else 0.
struct BadRequest {
  std::uint64_t id = 0;
  Error error;
};
tl::expected<Request, BadRequest> parse_request(std::string_view text);

struct Message {  // from the daemon
  enum class Kind : std::uint8_t { Event, Result, Error };
  Kind kind = Kind::Result;
  std::uint64_t id = 0;
  Json body;    // of an event or a result
  Error error;  // of an error
};
Result<Message> parse_message(std::string_view text);

std::string request_text(const Request& request);
std::string event_text(std::uint64_t id, const Json& body);
std::string result_text(std::uint64_t id, const Json& body);
std::string error_text(std::uint64_t id, const Error& error);

Json error_json(const Error& error);
Error error_from(const Json& json);  // missing members are empty

}  // namespace fade::ipc
