#include "tap/lookup.hpp"

#include "tap/layout.hpp"

namespace fade::tap {

using enum Reg;

void find_bucket(MachineCode& code, RemoteAddr table) {
  code.multiply(r10, ax, kHashFactor);
  code.shift_right(r10, kHashShift);
  code.bit_and(r10, kHashMask);
  code.load_address(r11, table);
  code.add(r11, r10);
}

void find_ring(MachineCode& code, RemoteAddr data, MachineCode::Label unknown) {
  const MachineCode::Label found = code.label();
  code.load_thread_pointer(ax);
  find_bucket(code, data + DataLayout::kThreadsAt);
  for (std::uint64_t i = 0; i < DataLayout::kThreadsInBucket; ++i) {
    const MachineCode::Label next = code.label();
    code.compare(ax, r11, static_cast<std::int32_t>(16 * i));
    code.jump(Condition::NotEqual, next);
    code.load(r11, r11, static_cast<std::int32_t>(16 * i + 8));
    code.jump(found);
    code.place(next);
  }
  code.jump(unknown);
  code.place(found);
  code.test(r11);
  code.jump(Condition::Equal, unknown);
}

}  // namespace fade::tap
