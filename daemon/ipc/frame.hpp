// Cuts a stream of bytes into messages: four bytes of length, little endian, then that many bytes of JSON. Knows
// neither sockets nor JSON. The other side is not trusted: a length reserves no memory before its bytes arrive.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fade::ipc {

inline constexpr std::size_t kMaxFrame = std::size_t{1} << 20;  // bytes of one message without its length
inline constexpr std::size_t kFrameHeader = 4;

class FrameDecoder {
 public:
  // Takes any piece of the stream. After an Error the stream stays unusable.
  Result<void> feed(std::span<const std::byte> bytes);
  // The next complete message, in the order of sending; nullopt: more bytes are needed.
  Result<std::optional<std::string>> next();
  bool in_the_middle() const { return !buffer_.empty(); }  // of a message, once next() has nothing more

 private:
  std::optional<std::size_t> announced() const;
  Result<void> check() const;

  std::string buffer_;  // from the beginning of a message on
};

// `text` is at most kMaxFrame bytes.
std::string framed(std::string_view text);

}  // namespace fade::ipc
