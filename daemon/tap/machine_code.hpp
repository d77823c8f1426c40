// Writes the few x86-64 instructions that a tap consists of (Intel SDM volume 2). Pure.
#pragma once
#include <cstdint>

#include "base/remote.hpp"
#include "tap/code_bytes.hpp"

namespace fade::tap {

// General registers by their numbers in an instruction.
enum class Reg : std::uint8_t { ax, cx, dx, bx, sp, bp, si, di, r8, r9, r10, r11 };
// Conditions of a jump, by their numbers in the instruction.
enum class Condition : std::uint8_t { AboveOrEqual = 3, Equal = 4, NotEqual = 5 };

// Each instruction is one function.
class MachineCode : public CodeBytes {
 public:
  using CodeBytes::CodeBytes;

  void move(Reg to, Reg from);                       // mov %from, %to
  void move(Reg to, std::uint32_t value);            // mov $value, %to (upper half 0)
  void load(Reg to, Reg base, std::int32_t offset);  // mov offset(%base), %to
  void load32(Reg to, Reg base, std::int32_t offset);
  void store(Reg base, std::int32_t offset, Reg from);  // mov %from, offset(%base)
  void load_address(Reg to, RemoteAddr address);        // lea address(%rip), %to
  void load_address(Reg to, Label label);
  void load_thread_pointer(Reg to);  // mov %fs:0, %to
  void add(Reg to, Reg from);
  void add(Reg to, std::int32_t value);
  void bit_and(Reg to, std::int32_t value);
  void bit_or(Reg to, Reg from);
  void multiply(Reg to, Reg from, std::int32_t value);  // imul $value, %from, %to
  void shift_left(Reg reg, std::uint8_t bits);
  void shift_right(Reg reg, std::uint8_t bits);
  void compare(Reg left, Reg base, std::int32_t offset);      // cmp offset(%base), %left
  void compare32(Reg left, std::int32_t value);               // cmp $value, %left (lower half)
  void compare_byte(RemoteAddr address, std::uint8_t value);  // cmpb $value, address(%rip)
  void store_byte(RemoteAddr address, std::uint8_t value);    // movb $value, address(%rip)
  void test(Reg reg);                                         // test %reg, %reg
  void test32(RemoteAddr address, Reg reg);                   // test %reg, address(%rip) (lower half)
  void increment(Reg base, std::int32_t offset);              // incq offset(%base)
  void exchange_add(Reg base, std::int32_t offset, Reg reg);  // xadd %reg, offset(%base)
  void read_clock() { raw({0x0F, 0x31}); }                    // rdtsc
  void jump(RemoteAddr to);
  void jump(Label to);
  void jump(Condition condition, Label to);
  void call(RemoteAddr to);

 private:
  void wide(Reg reg, Reg rm) { byte(0x48 | (static_cast<int>(reg) >> 3) << 2 | static_cast<int>(rm) >> 3); }
  void registers(Reg reg, Reg rm) { byte(0xC0 | (static_cast<int>(reg) & 7) << 3 | (static_cast<int>(rm) & 7)); }
  void memory(Reg reg, Reg base, std::int32_t offset);
  void group(std::uint8_t opcode, std::uint8_t extension, Reg rm, std::int32_t value);
};

}  // namespace fade::tap
