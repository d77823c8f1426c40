#include "tap/gate.hpp"

#include "tap/layout.hpp"
#include "tap/lookup.hpp"
#include "tap/machine_code.hpp"

namespace fade::tap {

using enum Reg;

Gate gate_code(std::uint16_t number, const GateWays& ways, RemoteAddr at) {
  MachineCode code(at);
  const MachineCode::Label through = code.label();
  const auto counters = static_cast<std::int32_t>(RingLayout{ways.ring_size}.counters_at(number));
  find_ring(code, ways.data, through);
  code.move(r10, 1);
  code.exchange_add(r11, counters + static_cast<std::int32_t>(RingLayout::kNumberAt), r10);
  code.test32(ways.data + DataLayout::kMasksAt + sizeof(std::uint32_t) * number, r10);
  code.jump(Condition::Equal, through);
  code.increment(r11, counters + static_cast<std::int32_t>(RingLayout::kCountedAt));
  Gate out{.code = {}, .begin = at, .counted = code.here(), .end = {}, .lets_through = {}};
  code.jump(ways.moved);
  code.place(through);
  out.lets_through = code.here();
  code.jump(ways.tap);
  out.end = code.here();
  out.code = code.finish();
  return out;
}

}  // namespace fade::tap
