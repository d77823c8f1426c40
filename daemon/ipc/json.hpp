// JSON from outside, read without exceptions: what is missing or of another type is absent.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace fade::ipc {

using Json = nlohmann::json;

// Fails for text that is no JSON object, and for one nested deeper than anything we say.
Result<Json> parse_object(std::string_view text);
// On one line. Bytes that are not UTF-8 are replaced.
std::string to_text(const Json& json);

const Json* member(const Json& object, std::string_view key);  // nullptr where there is none
std::optional<std::int64_t> integer(const Json& object, std::string_view key);
std::optional<std::uint64_t> natural(const Json& object, std::string_view key);
std::optional<bool> boolean(const Json& object, std::string_view key);
std::optional<std::string> text(const Json& object, std::string_view key);
std::optional<std::vector<std::string>> texts(const Json& object, std::string_view key);  // a list of nothing but texts

// Of what others wrote, for a line of a log: control characters, DEL and a length beyond reason are replaced.
std::string one_line(std::string_view text);

}  // namespace fade::ipc
