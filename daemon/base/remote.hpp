// Addresses and memory of another process. Code that interprets foreign memory takes a Memory and does not know the
// source of the bytes: a live process, a file, or a test's byte array.
#pragma once
#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace fade {

// An address in the address space of a tracee. Never an address of fade, never a file offset.
struct RemoteAddr {
  std::uint64_t value = 0;

  constexpr explicit operator bool() const { return value != 0; }
  constexpr auto operator<=>(const RemoteAddr&) const = default;
  constexpr RemoteAddr operator+(std::uint64_t n) const { return {value + n}; }
  constexpr RemoteAddr operator-(std::uint64_t n) const { return {value - n}; }
  constexpr std::uint64_t operator-(RemoteAddr other) const { return value - other.value; }
};

// Half-open range [begin, end).
struct RemoteRange {
  RemoteAddr begin, end;
  constexpr std::uint64_t size() const { return end.value - begin.value; }
  constexpr bool contains(RemoteAddr a) const { return begin <= a && a < end; }
};

class Memory {
 public:
  virtual ~Memory() = default;

  // Reads up to into.size() bytes starting at `from`. Returns the number of bytes read from the start (0 = none).
  virtual std::size_t read(RemoteAddr from, std::span<std::byte> into) const = 0;

  bool read_exactly(RemoteAddr from, std::span<std::byte> into) const { return read(from, into) == into.size(); }

  template <class T>
  requires std::is_trivially_copyable_v<T> std::optional<T> value(RemoteAddr from)
  const {
    T out;
    if (!read_exactly(from, std::as_writable_bytes(std::span(&out, 1)))) return std::nullopt;
    return out;
  }

  // Reads a NUL-terminated string of at most `limit` bytes. Returns nullopt if not even one byte can be read. `cut` (if
  // given) is true if there was no NUL within the limit or before unreadable memory.
  std::optional<std::string> c_string(RemoteAddr from, std::size_t limit, bool* cut = nullptr) const {
    std::string out;
    std::array<std::byte, 256> chunk;
    if (cut) *cut = false;
    while (out.size() < limit) {
      // A chunk ends at a multiple of its size, so that a string at the end of a page is read whole.
      const std::uint64_t at = from.value + out.size();
      const std::size_t want = std::min<std::size_t>(limit - out.size(), chunk.size() - at % chunk.size());
      const std::size_t got = read({at}, std::span(chunk).first(want));
      if (got == 0 && out.empty()) return std::nullopt;
      const auto* text = reinterpret_cast<const char*>(chunk.data());
      const std::size_t length = ::strnlen(text, got);
      out.append(text, length);
      if (length < got) return out;
      if (got < want) break;
    }
    if (cut) *cut = true;
    return out;
  }
};

}  // namespace fade

template <>
struct std::hash<fade::RemoteAddr> {
  std::size_t operator()(fade::RemoteAddr a) const noexcept { return std::hash<std::uint64_t>{}(a.value); }
};
