// Where finished text goes: a file descriptor (buffered), or a string in tests.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fade::table {

class Bytes {
 public:
  virtual ~Bytes() = default;
  virtual Result<void> write(std::string_view text) = 0;
  virtual Result<void> flush() { return {}; }
};

class StringBytes : public Bytes {
 public:
  Result<void> write(std::string_view more) override {
    text += more;
    return {};
  }
  std::string text;
};

// Does not own the descriptor. An error carries its errno: EPIPE means that the reader has enough.
class FdBytes : public Bytes {
 public:
  FdBytes(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  Result<void> write(std::string_view text) override;
  Result<void> flush() override;

 private:
  int fd_;
  std::string name_;
  std::string buffer_;
};

}  // namespace fade::table
