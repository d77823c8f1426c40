#include "tap/unwind.hpp"

#include <iterator>

namespace fade::tap {
namespace {

// A CIE: version 1, augmentation "zR" with absolute 8-byte pointers; code factor 1, data factor -8, return address in
// column 16. DW_CFA_def_cfa: register 6 (%rbp), offset 16. DW_CFA_offset: column 16 at 1 (x -8), register 6 at 2.
constexpr std::uint8_t kCommon[] = {20, 0,    0,  0, 0, 0,    0, 0,  1,    'z', 'R',  0,
                                    1,  0x78, 16, 1, 0, 0x0C, 6, 16, 0x90, 1,   0x86, 2};
static_assert(sizeof kCommon == 20 + 4);

template <class T>
void append(std::vector<std::uint8_t>& out, T value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

}  // namespace

std::vector<std::uint8_t> unwind_information(RemoteRange code) {
  std::vector<std::uint8_t> out(std::begin(kCommon), std::end(kCommon));
  append(out, std::uint32_t{28});                       // bytes of the FDE after this word
  append(out, static_cast<std::uint32_t>(out.size()));  // back to the CIE
  append(out, code.begin.value);
  append(out, code.size());
  append(out, std::uint64_t{0});  // no augmentation data, padding
  append(out, std::uint32_t{0});  // end mark
  return out;
}

std::vector<std::uint8_t> registration_code(RemoteAddr at, RemoteAddr information) {
  std::vector<std::uint8_t> out{0x50, 0x51, 0x52, 0x56, 0x57,              // push %rax, %rcx, %rdx, %rsi, %rdi
                                0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x53,  // push %r8, %r9, %r10, %rbx
                                0x48, 0x89, 0xE3,                          // mov %rsp, %rbx
                                0x48, 0x83, 0xE4, 0xF0,                    // and $-16, %rsp
                                0x48, 0x8D, 0x3D};                         // lea information(%rip), %rdi
  append(out, static_cast<std::int32_t>(information.value - (at.value + out.size() + 4)));
  const std::uint8_t rest[] = {0x41, 0xFF, 0xD3,                          // call *%r11
                               0x48, 0x89, 0xDC,                          // mov %rbx, %rsp
                               0x5B, 0x41, 0x5A, 0x41, 0x59, 0x41, 0x58,  // pop %rbx, %r10, %r9, %r8
                               0x5F, 0x5E, 0x5A, 0x59, 0x58,              // pop %rdi, %rsi, %rdx, %rcx, %rax
                               0x41, 0xFF, 0xE2};                         // jmp *%r10
  out.insert(out.end(), std::begin(rest), std::end(rest));
  return out;
}

}  // namespace fade::tap
