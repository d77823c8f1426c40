#include "cli/serve/token.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>

namespace fade::serve {

Result<std::string> fresh_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail_errno("cannot get random bits from the kernel");
  std::string out;
  for (const unsigned char byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

bool is_same_token(std::string_view given, std::string_view token) {
  if (given.size() != token.size() || token.empty()) return false;
  unsigned char differing = 0;
  for (std::size_t i = 0; i < token.size(); ++i)
    differing = static_cast<unsigned char>(differing | (given[i] ^ token[i]));
  return differing == 0;
}

}  // namespace fade::serve
