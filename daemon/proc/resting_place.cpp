#include "proc/resting_place.hpp"

#include <charconv>

namespace fade {
namespace {

constexpr std::string_view kHex = "0x";

// Cuts the last word off.
std::optional<RemoteAddr> last_address(std::string_view& text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  const std::size_t begin = text.find_last_of(' ') + 1;  // npos + 1 is 0
  std::string_view word = text.substr(begin);
  text = text.substr(0, begin);
  if (!word.starts_with(kHex)) return std::nullopt;
  word.remove_prefix(kHex.size());
  RemoteAddr out;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out.value, 16);
  return error == std::errc() && end == word.data() + word.size() ? std::optional(out) : std::nullopt;
}

}  // namespace

std::optional<RestingPlace> parse_resting_place(std::string_view text) {
  const auto ip = last_address(text), sp = last_address(text);
  return ip && sp ? std::optional(RestingPlace{*ip, *sp}) : std::nullopt;
}

std::optional<RestingPlace> read_resting_place(Tid tid, const ProcFiles& proc) {
  auto out = parse_resting_place(proc.read(tid, "syscall"));
  if (out) out->sleeps = static_cast<std::uint64_t>(proc.status(tid).number("voluntary_ctxt_switches"));
  return out;
}

}  // namespace fade
