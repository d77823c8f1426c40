// The text of a file, plain or compressed by gzip, as a stream for a JSON parser. The parser keeps a text or a number
// whole in memory, so one that is too long ends the stream.
#pragma once
#include <array>
#include <cstdint>
#include <streambuf>
#include <string>

#include "base/result.hpp"

struct gzFile_s;

namespace fade::foreign {

class TextSource : public std::streambuf {
 public:
  static constexpr std::size_t kMostToken = std::size_t{16} << 20;

  explicit TextSource(const std::string& path);
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  ~TextSource() override;

  bool is_open() const { return file_ != nullptr; }
  // Why the stream ended before the end of the file; empty: it did not.
  const std::string& problem() const { return problem_; }

 protected:
  int_type underflow() override;

 private:
  bool has_long_token(std::size_t bytes);

  gzFile_s* file_;
  std::array<char, 1 << 16> buffer_;
  std::string problem_;
  std::size_t token_ = 0;  // bytes of the text or number under way
  bool in_text_ = false, is_escaped_ = false;
};

}  // namespace fade::foreign
