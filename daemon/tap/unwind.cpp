#include "tap/unwind.hpp"

#include <cstring>

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

}  // namespace fade::tap
