// The integer registers of a stopped thread, named as in the System V x86-64 ABI (3.2.3).
#pragma once
#include <sys/user.h>

#include <array>
#include <cstdint>

#include "base/remote.hpp"

namespace fade {

struct Registers : user_regs_struct {
  RemoteAddr ip() const { return {rip}; }
  RemoteAddr sp() const { return {rsp}; }
  std::uint64_t result() const { return rax; }
  std::array<std::uint64_t, 6> argument_words() const { return {rdi, rsi, rdx, rcx, r8, r9}; }
  bool is_64_bit() const { return cs == 0x33; }  // __USER_CS; 0x23 is compatibility mode
};

}  // namespace fade
