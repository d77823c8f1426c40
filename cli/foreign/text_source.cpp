#include "cli/foreign/text_source.hpp"

#include <zlib.h>

#include <algorithm>
#include <string_view>

namespace fade::foreign {

TextSource::TextSource(const std::string& path) : file_(::gzopen(path.c_str(), "rbe")) {
  if (file_) ::gzbuffer(file_, 1 << 17);
}

TextSource::~TextSource() {
  if (file_) ::gzclose(file_);
}

namespace {

constexpr std::size_t kLongestWord = 9;  // -Infinity

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_continuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// The length of the sequence at the begin; 0: it is no UTF-8. `is_cut`: it may be, but its rest is missing.
std::size_t sequence(std::string_view text, bool& is_cut) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : (first & 0xF0) == 0xE0        ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i) {
    is_cut = i == text.size();
    if (is_cut || !is_continuation(at(i))) return 0;
    const bool is_low = (first == 0xE0 && at(1) < 0xA0) || (first == 0xF0 && at(1) < 0x90);
    const bool is_high = (first == 0xED && at(1) > 0x9F) || (first == 0xF4 && at(1) > 0x8F);
    if (is_low || is_high) return 0;
  }
  return length;
}

bool is_no_json(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return word == "NaN" || word == "nan" || word == "Infinity" || word == "inf" || word == "Inf";
}

}  // namespace

// Returns the next place; `at`: the rest of the character is not read yet.
std::size_t TextSource::scan_text(std::size_t at, std::size_t bytes, bool is_end) {
  const char c = buffer_[at];
  if (is_escaped_ || c == '\\' || c == '"') {
    in_text_ = is_escaped_ || c != '"';
    is_escaped_ = !is_escaped_ && c == '\\';
    return at + 1;
  }
  bool is_cut = false;
  const std::size_t length = sequence({buffer_.data() + at, bytes - at}, is_cut);
  if (is_cut && !is_end) return at;
  if (length == 0) buffer_[at] = '?';
  if (static_cast<unsigned char>(c) < 0x20) buffer_[at] = ' ';
  return at + std::max<std::size_t>(length, 1);
}

// A word that is no number becomes an empty text of the same length, so that it is no time either.
std::size_t TextSource::scan_word(std::size_t at, std::size_t bytes, bool is_end) {
  std::size_t end = at + 1;
  while (end < bytes && end - at <= kLongestWord && is_letter(buffer_[end])) ++end;
  if (end == bytes && !is_end && end - at <= kLongestWord) return at;
  if (!is_no_json({buffer_.data() + at, end - at})) return end;
  std::fill(buffer_.begin() + static_cast<std::ptrdiff_t>(at), buffer_.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  buffer_[at] = buffer_[at + 1] = '"';
  return end;
}

std::size_t TextSource::scan(std::size_t bytes, bool is_end) {
  constexpr std::string_view kBetween = " \t\r\n{}[],:";
  for (std::size_t at = 0, next = 0; at < bytes; at = next) {
    const char c = buffer_[at];
    if (in_text_) next = scan_text(at, bytes, is_end);
    else if (is_letter(c) || c == '-') next = scan_word(at, bytes, is_end);
    else next = at + 1, in_text_ = c == '"';
    if (next == at) return at;
    token_ = !in_text_ && kBetween.find(c) != kBetween.npos ? 0 : token_ + (next - at);
    if (token_ > kMostToken) {
      problem_ = "a text in it is longer than 16 MB";
      return 0;
    }
  }
  return bytes;
}

TextSource::int_type TextSource::underflow() {
  if (!problem_.empty()) return traits_type::eof();
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(from_),
            buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
  const std::size_t kept = filled_ - from_;
  const int got = ::gzread(file_, buffer_.data() + kept, static_cast<unsigned>(buffer_.size() - kept));
  int code = Z_OK;
  const char* text = ::gzerror(file_, &code);
  if (code != Z_OK && code != Z_STREAM_END) problem_ = code == Z_BUF_ERROR ? "its compressed part ends early" : text;
  from_ = 0, filled_ = kept + static_cast<std::size_t>(std::max(got, 0));
  if (filled_ == 0) return traits_type::eof();
  from_ = scan(filled_, got <= 0);
  if (from_ == 0) return problem_.empty() ? underflow() : traits_type::eof();
  setg(buffer_.data(), buffer_.data(), buffer_.data() + from_);
  return traits_type::to_int_type(buffer_[0]);
}

}  // namespace fade::foreign
