#include "probes/role_index.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "probes/probe.hpp"
#include "probes/types.hpp"

namespace fade::probes {
namespace {

constexpr int kDeepestSearched = 4;         // structs within structs that are searched
constexpr std::uint8_t kWordRegisters = 6;  // CallRecord::words

struct FoundRole {
  Role role;
  RolePlace place;
};

// Fields of a structure come before fields of nested structures.
void add_fields(const Types& types, const Type& type, RolePlace base, int depth, std::vector<FoundRole>& to) {
  const TypeDeclaration* declaration = type.cls == TypeClass::Struct ? types.find(type.name) : nullptr;
  if (!declaration) return;
  const auto place_of = [&](const Field& field) {
    RolePlace place = base;
    place.offset += field.offset;
    place.size = field.type.size;
    return place;
  };
  for (const Field& field : declaration->fields)
    if (field.role != Role::None) to.push_back({field.role, place_of(field)});
  if (depth == 0) return;
  for (const Field& field : declaration->fields) add_fields(types, field.type, place_of(field), depth - 1, to);
}

std::vector<FoundRole> found_in(const Probe& probe) {
  std::vector<FoundRole> out;
  std::vector<std::pair<const Type*, RolePlace>> wholes;
  for (std::size_t i = 0; i < probe.parameters.size(); ++i) {
    const Parameter& parameter = probe.parameters[i];
    const bool in_memory = parameter.pointee.cls != TypeClass::Void;
    const Type& type = in_memory ? parameter.pointee : parameter.type;
    const RolePlace& place =
        wholes.emplace_back(&type, RolePlace{in_memory, static_cast<std::uint8_t>(i), parameter.at, 0, type.size})
            .second;
    if (parameter.role != Role::None) out.push_back({parameter.role, place});
  }
  for (const auto& [type, place] : wholes) add_fields(types_of(probe), *type, place, kDeepestSearched, out);
  return out;
}

RoleWord word_of(std::span<const RolePlace> places) {
  using In = RoleWord::In;
  if (places.empty()) return {};
  const RolePlace& place = places.front();
  const bool on_stack = place.at.where == Location::Where::Stack;
  const bool in_register = place.at.where == Location::Where::Integer && place.at.first < kWordRegisters;
  if (places.size() != 1 || place.in_memory || !(on_stack || in_register) || place.offset != 0 || place.size == 0 ||
      place.size > 8)
    return {In::Elsewhere, 0, 0};
  return {on_stack ? In::Stack : In::Register, place.at.first, ~std::uint64_t{0} >> (64 - 8 * place.size)};
}

}  // namespace

RoleIndex::RoleIndex(const Probe& probe) {
  std::vector<FoundRole> found = found_in(probe);
  std::ranges::stable_sort(found, {}, &FoundRole::role);
  for (const FoundRole& one : found) {
    places_.push_back(one.place);
    ++first_[static_cast<std::size_t>(one.role) + 1];
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] = static_cast<std::uint16_t>(first_[i] + first_[i - 1]);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = word_of(places(static_cast<Role>(i)));
}

LazyRoleIndex& LazyRoleIndex::operator=(const LazyRoleIndex&) noexcept {
  delete index_.exchange(nullptr);
  return *this;
}

LazyRoleIndex::~LazyRoleIndex() { delete index_.load(); }

const RoleIndex& LazyRoleIndex::make(const Probe& probe) const {
  auto mine = std::make_unique<const RoleIndex>(probe);
  const RoleIndex* expected = nullptr;
  return index_.compare_exchange_strong(expected, mine.get(), std::memory_order_acq_rel) ? *mine.release() : *expected;
}

}  // namespace fade::probes
