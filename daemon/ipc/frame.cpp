#include "ipc/frame.hpp"

#include <fmt/format.h>

namespace fade::ipc {

std::optional<std::size_t> FrameDecoder::announced() const {
  if (buffer_.size() < kFrameHeader) return {};
  std::size_t length = 0;
  for (std::size_t i = 0; i < kFrameHeader; ++i)
    length |= std::size_t{static_cast<unsigned char>(buffer_[i])} << (8 * i);
  return length;
}

Result<void> FrameDecoder::check() const {
  const auto length = announced();
  if (!length || (*length > 0 && *length <= kMaxFrame)) return {};
  return fail("cannot understand the other side",
              fmt::format("a message of {} bytes; 1 to {} are allowed", *length, kMaxFrame),
              "use fadectl and faded of the same version", EPROTO);
}

Result<void> FrameDecoder::feed(std::span<const std::byte> bytes) {
  if (auto checked = check(); !checked) return checked;
  buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return check();
}

Result<std::optional<std::string>> FrameDecoder::next() {
  if (auto checked = check(); !checked) return tl::unexpected(std::move(checked.error()));
  const auto length = announced();
  if (!length || buffer_.size() - kFrameHeader < *length) return std::nullopt;
  std::string message = buffer_.substr(kFrameHeader, *length);
  buffer_.erase(0, kFrameHeader + *length);
  return message;
}

std::string framed(std::string_view text) {
  FADE_CHECK(text.size() <= kMaxFrame);
  std::string out;
  for (std::size_t i = 0; i < kFrameHeader; ++i) out += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return out.append(text);
}

}  // namespace fade::ipc
