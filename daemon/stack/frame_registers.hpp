// The integer registers of a frame in DWARF's numbering (System V x86-64 ABI, figure 3.36), and which of them are
// known. Registers that a call may change are unknown in the caller's frame.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "ptrace/registers.hpp"

namespace fade {

class FrameRegisters {
 public:
  enum : std::size_t { kRbx = 3, kRbp = 6, kRsp = 7, kReturnAddress = 16, kCount = 17 };
  // The registers that a function restores, except rsp.
  static constexpr std::array<std::uint8_t, 6> kSaved{kRbx, kRbp, 12, 13, 14, 15};

  FrameRegisters() = default;
  explicit FrameRegisters(const Registers& r)
      : words_{r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
               r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip},
        known_((1U << kCount) - 1) {}

  RemoteAddr pc() const { return {words_[kReturnAddress]}; }
  RemoteAddr sp() const { return {words_[kRsp]}; }
  bool has(std::size_t number) const { return number < kCount && (known_ >> number & 1) != 0; }
  std::optional<std::uint64_t> get(std::size_t number) const {
    return has(number) ? std::optional(words_[number]) : std::nullopt;
  }
  std::uint64_t operator[](std::size_t number) const { return words_[number]; }  // only if has()
  void set(std::size_t number, std::uint64_t value) {
    words_[number] = value;
    known_ |= 1U << number;
  }
  void forget(std::size_t number) { known_ &= ~(1U << number); }
  // Changes to the frame of the caller: only registers that survive a call stay known.
  void return_to(std::uint64_t pc, std::uint64_t sp) {
    known_ &= kSurviving;
    set(kReturnAddress, pc);
    set(kRsp, sp);
  }

 private:
  static constexpr std::uint32_t kSurviving = [] {
    std::uint32_t bits = 0;
    for (const auto number : kSaved) bits |= 1U << number;
    return bits;
  }();
  std::array<std::uint64_t, kCount> words_{};
  std::uint32_t known_ = 0;
};

}  // namespace fade
