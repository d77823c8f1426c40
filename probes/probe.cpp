#include "probes/probe.hpp"

#include <algorithm>

namespace fade::probes {
namespace {

bool is_signed(TypeClass cls) { return cls == TypeClass::Signed || cls == TypeClass::Char || cls == TypeClass::Enum; }

// The upper part of rax is undefined if the result is narrower.
std::int64_t narrowed(std::uint64_t word, const Type& type) {
  if (type.size == 0 || type.size >= 8) return static_cast<std::int64_t>(word);
  const unsigned spare = 64 - 8 * type.size;
  const std::uint64_t shifted = word << spare;
  return is_signed(type.cls) ? static_cast<std::int64_t>(shifted) >> spare
                             : static_cast<std::int64_t>(shifted >> spare);
}

}  // namespace

bool Probe::failed(std::uint64_t result_word) const {
  if (!has_success) return false;
  const std::int64_t value = narrowed(result_word, result);
  return value != success && std::find(not_failures.begin(), not_failures.end(), value) == not_failures.end();
}

MemoryAction Probe::memory_action() const {
  if (memory.act != MemoryAct::None) return memory;
  if (kind == Kind::Alloc) return {.act = MemoryAct::Allocate, .kind = MemoryKind::Device};
  if (kind == Kind::HostAlloc) return {.act = MemoryAct::Allocate, .kind = MemoryKind::Host};
  if (kind == Kind::Free || kind == Kind::HostFree) return {.act = MemoryAct::Free};
  return {};
}

const Parameter* Probe::with_role(Role role) const {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [role](const Parameter& p) { return p.role == role; });
  return found == parameters.end() ? nullptr : &*found;
}

}  // namespace fade::probes
