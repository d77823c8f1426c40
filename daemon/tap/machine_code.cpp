#include "tap/machine_code.hpp"

#include "base/result.hpp"

namespace fade::tap {

// offset(%base) with 32 bits of offset. %rsp and %r12 as a base would need a SIB byte.
void MachineCode::memory(Reg reg, Reg base, std::int32_t offset) {
  FADE_CHECK(base != Reg::sp);
  byte(0x80 | (static_cast<int>(reg) & 7) << 3 | (static_cast<int>(base) & 7));
  word32(static_cast<std::uint32_t>(offset));
}

void MachineCode::move(Reg to, Reg from) {
  wide(from, to);
  byte(0x89);
  registers(from, to);
}

void MachineCode::move(Reg to, std::uint32_t value) {
  if (static_cast<int>(to) >= 8) byte(0x41);
  byte(0xB8 | (static_cast<int>(to) & 7));
  word32(value);
}

void MachineCode::load(Reg to, Reg base, std::int32_t offset) {
  wide(to, base);
  byte(0x8B);
  memory(to, base, offset);
}

void MachineCode::load32(Reg to, Reg base, std::int32_t offset) {
  byte(0x40 | (static_cast<int>(to) >> 3) << 2 | static_cast<int>(base) >> 3);
  byte(0x8B);
  memory(to, base, offset);
}

void MachineCode::store(Reg base, std::int32_t offset, Reg from) {
  wide(from, base);
  byte(0x89);
  memory(from, base, offset);
}

void MachineCode::load_address(Reg to, RemoteAddr address) {
  wide(to, Reg::ax);
  byte(0x8D);
  byte(0x05 | (static_cast<int>(to) & 7) << 3);
  relative(address);
}

void MachineCode::load_address(Reg to, Label label) {
  wide(to, Reg::ax);
  byte(0x8D);
  byte(0x05 | (static_cast<int>(to) & 7) << 3);
  relative(label);
}

void MachineCode::load_thread_pointer(Reg to) {
  byte(0x64);
  wide(to, Reg::ax);
  byte(0x8B);
  byte(0x04 | (static_cast<int>(to) & 7) << 3);
  byte(0x25);
  word32(0);
}

void MachineCode::add(Reg to, Reg from) {
  wide(from, to);
  byte(0x01);
  registers(from, to);
}

void MachineCode::bit_or(Reg to, Reg from) {
  wide(from, to);
  byte(0x09);
  registers(from, to);
}

void MachineCode::group(std::uint8_t opcode, std::uint8_t extension, Reg rm, std::int32_t value) {
  wide(Reg::ax, rm);
  byte(opcode);
  registers(static_cast<Reg>(extension), rm);
  word32(static_cast<std::uint32_t>(value));
}

void MachineCode::add(Reg to, std::int32_t value) { group(0x81, 0, to, value); }
void MachineCode::bit_and(Reg to, std::int32_t value) { group(0x81, 4, to, value); }

void MachineCode::multiply(Reg to, Reg from, std::int32_t value) {
  wide(to, from);
  byte(0x69);
  registers(to, from);
  word32(static_cast<std::uint32_t>(value));
}

void MachineCode::shift_left(Reg reg, std::uint8_t bits) {
  wide(Reg::ax, reg);
  byte(0xC1);
  registers(static_cast<Reg>(4), reg);
  byte(bits);
}

void MachineCode::shift_right(Reg reg, std::uint8_t bits) {
  wide(Reg::ax, reg);
  byte(0xC1);
  registers(static_cast<Reg>(5), reg);
  byte(bits);
}

void MachineCode::compare(Reg left, Reg base, std::int32_t offset) {
  wide(left, base);
  byte(0x3B);
  memory(left, base, offset);
}

void MachineCode::compare32(Reg left, std::int32_t value) {
  if (static_cast<int>(left) >= 8) byte(0x41);
  byte(0x81);
  registers(static_cast<Reg>(7), left);
  word32(static_cast<std::uint32_t>(value));
}

void MachineCode::compare_byte(RemoteAddr address, std::uint8_t value) {
  byte(0x80);
  byte(0x3D);
  relative(address, 1);
  byte(value);
}

void MachineCode::store_byte(RemoteAddr address, std::uint8_t value) {
  byte(0xC6);
  byte(0x05);
  relative(address, 1);
  byte(value);
}

void MachineCode::test(Reg reg) {
  wide(reg, reg);
  byte(0x85);
  registers(reg, reg);
}

void MachineCode::test32(RemoteAddr address, Reg reg) {
  if (static_cast<int>(reg) >= 8) byte(0x44);
  byte(0x85);
  byte(0x05 | (static_cast<int>(reg) & 7) << 3);
  relative(address);
}

void MachineCode::increment(Reg base, std::int32_t offset) {
  wide(Reg::ax, base);
  byte(0xFF);
  memory(Reg::ax, base, offset);
}

void MachineCode::exchange_add(Reg base, std::int32_t offset, Reg reg) {
  wide(reg, base);
  byte(0x0F);
  byte(0xC1);
  memory(reg, base, offset);
}

void MachineCode::jump(RemoteAddr to) {
  byte(0xE9);
  relative(to);
}

void MachineCode::jump(Label to) {
  byte(0xE9);
  relative(to);
}

void MachineCode::jump(Condition condition, Label to) {
  byte(0x0F);
  byte(0x80 | static_cast<int>(condition));
  relative(to);
}

void MachineCode::call(RemoteAddr to) {
  byte(0xE8);
  relative(to);
}

}  // namespace fade::tap
