#include "cli/serve/request.hpp"

#include <charconv>

namespace fade::serve {
namespace {

constexpr std::size_t kMostParameters = 16;

std::optional<unsigned char> hex_byte(std::string_view digits) {
  unsigned char byte = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, byte, 16);
  return digits.size() == 2 && error == std::errc() && at == end ? std::optional(byte) : std::nullopt;
}

// %41 is A, + is a blank.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') out += ' ';
    if (text[i] != '+' && text[i] != '%') out += text[i];
    if (text[i] != '%') continue;
    const auto byte = hex_byte(text.substr(i + 1, 2));
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

bool add_parameter(Request& request, std::string_view pair) {
  const std::size_t equals = pair.find('=');
  const auto name = decoded(pair.substr(0, equals));
  const auto value = equals == pair.npos ? std::optional<std::string>("") : decoded(pair.substr(equals + 1));
  if (!name || !value || request.parameters.size() >= kMostParameters) return false;
  return request.parameters.emplace(*name, *value).second;
}

}  // namespace

std::string Request::text(std::string_view parameter) const {
  const auto found = parameters.find(parameter);
  return found == parameters.end() ? std::string() : found->second;
}

std::optional<std::int64_t> Request::number(std::string_view parameter) const {
  const std::string digits = text(parameter);
  std::int64_t n = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, n);
  return !digits.empty() && error == std::errc() && at == end ? std::optional(n) : std::nullopt;
}

std::optional<Request> parse_request(std::string_view path) {
  const std::size_t question = path.find('?');
  const auto name = decoded(path.substr(0, question));
  if (!name) return std::nullopt;
  Request out{*name, {}};
  std::string_view rest = question == path.npos ? std::string_view() : path.substr(question + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    if (end > 0 && !add_parameter(out, rest.substr(0, end))) return std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

}  // namespace fade::serve
