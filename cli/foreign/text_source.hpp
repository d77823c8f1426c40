// The text of a file, plain or compressed by gzip, as a stream for a JSON parser. The parser keeps a text or a number
// whole in memory, so one that is too long ends the stream. Some writers put raw control bytes, bytes that are no
// UTF-8, NaN and Infinity into arguments. They are replaced, since a parser refuses the whole file otherwise.
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
  // Repairs and counts the bytes up to the first whose rest is not read yet. Returns where that is; 0: a token is too
  // long.
  std::size_t scan(std::size_t bytes, bool is_end);
  std::size_t scan_text(std::size_t at, std::size_t bytes, bool is_end);
  std::size_t scan_word(std::size_t at, std::size_t bytes, bool is_end);

  gzFile_s* file_;
  std::array<char, 1 << 16> buffer_;
  std::size_t from_ = 0, filled_ = 0;  // bytes that were read and not given yet
  std::string problem_;
  std::size_t token_ = 0;  // bytes of the text or number under way
  bool in_text_ = false, is_escaped_ = false;
};

}  // namespace fade::foreign
