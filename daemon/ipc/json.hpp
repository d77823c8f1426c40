// JSON from outside, read without exceptions: a member that is missing or of another type is absent.
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

// Returns an Error for text that is not a JSON object, or that is nested deeper than any message of fade.
Result<Json> parse_object(std::string_view text);
// On one line. Bytes that are not UTF-8 are replaced.
std::string to_text(const Json& json);

const Json* member(const Json& object, std::string_view key);  // nullptr if there is none
std::optional<std::int64_t> integer(const Json& object, std::string_view key);
std::optional<std::uint64_t> natural(const Json& object, std::string_view key);
std::optional<bool> boolean(const Json& object, std::string_view key);
std::optional<std::string> text(const Json& object, std::string_view key);
std::optional<std::vector<std::string>> texts(const Json& object, std::string_view key);  // a list that has only texts

// A text from another process for one line of a log: control characters, DEL and excess length are replaced.
std::string one_line(std::string_view text);

}  // namespace fade::ipc
