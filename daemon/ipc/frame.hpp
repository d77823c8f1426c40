// How messages are cut out of a stream of bytes: four bytes of length, little endian, then that many bytes of JSON. Knows
// neither sockets nor JSON. What the other side sends is not trusted: no length reserves memory before its bytes came.
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
  // Takes any piece of the stream. After an error the stream cannot be understood any more, and stays so.
  Result<void> feed(std::span<const std::byte> bytes);
  // The next complete message, in the order in which they were sent; nullopt: more bytes are needed.
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
