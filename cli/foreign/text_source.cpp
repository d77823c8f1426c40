#include "cli/foreign/text_source.hpp"

#include <zlib.h>

#include <string_view>

namespace fade::foreign {

TextSource::TextSource(const std::string& path) : file_(::gzopen(path.c_str(), "rbe")) {
  if (file_) ::gzbuffer(file_, 1 << 17);
}

TextSource::~TextSource() {
  if (file_) ::gzclose(file_);
}

bool TextSource::has_long_token(std::size_t bytes) {
  constexpr std::string_view kBetween = " \t\r\n{}[],:";
  for (std::size_t i = 0; i < bytes; ++i) {
    const char c = buffer_[i];
    if (!in_text_ && kBetween.find(c) != kBetween.npos) {
      token_ = 0;
      continue;
    }
    if (++token_ > kMostToken) return true;
    if (is_escaped_) is_escaped_ = false;
    else if (in_text_ && c == '\\') is_escaped_ = true;
    else if (c == '"') in_text_ = !in_text_;
  }
  return false;
}

TextSource::int_type TextSource::underflow() {
  if (!problem_.empty()) return traits_type::eof();
  const int got = ::gzread(file_, buffer_.data(), static_cast<unsigned>(buffer_.size()));
  int code = Z_OK;
  const char* text = ::gzerror(file_, &code);
  if (code != Z_OK && code != Z_STREAM_END) problem_ = code == Z_BUF_ERROR ? "its compressed part ends early" : text;
  if (got <= 0) return traits_type::eof();
  if (has_long_token(static_cast<std::size_t>(got)))
    return problem_ = "a text in it is longer than 16 MB", traits_type::eof();
  setg(buffer_.data(), buffer_.data(), buffer_.data() + got);
  return traits_type::to_int_type(buffer_[0]);
}

}  // namespace fade::foreign
