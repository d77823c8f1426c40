// A choice of the words of a function's calls: registers and words on the stack, each with a mask of the bytes that
// mean something. Made once per function. Knows no call, only where the words of one are.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "probes/role_index.hpp"

namespace fade::probes {

class CallWords {
 public:
  static constexpr std::size_t kMost = 12;
  using Values = std::array<std::uint64_t, kMost>;
  struct Word {
    std::uint8_t at = 0;  // index of the register, or of the word on the stack
    std::uint64_t mask = 0;
  };

  // False: the value lies elsewhere, or there is no room for more words.
  bool add(const RolePlace& place);

  std::size_t size() const { return size_; }
  // Values come in this order.
  std::span<const Word> registers() const { return std::span(words_).first(registers_); }
  std::span<const Word> on_stack() const { return std::span(words_).subspan(registers_, size_ - registers_); }
  std::uint32_t stack_bytes() const { return stack_bytes_; }  // so many must be known

 private:
  bool add(bool on_stack, std::uint8_t at, std::uint64_t mask);

  std::array<Word, kMost> words_{};  // registers, then those on the stack
  std::uint8_t registers_ = 0, size_ = 0;
  std::uint32_t stack_bytes_ = 0;
};

}  // namespace fade::probes
