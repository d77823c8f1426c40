#include "elf/dwarf_die.hpp"

#include <dwarf.h>

namespace fade::elf {
namespace {

constexpr int kMaxPeeled = 32;  // typedef of const of typedef ...
constexpr std::size_t kMaxText = 256;

}  // namespace

std::optional<Dwarf_Die> type_die(Dwarf_Die die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (!::dwarf_formref_die(::dwarf_attr_integrate(&die, DW_AT_type, &attribute), &type)) return std::nullopt;
  return type;
}

std::optional<std::uint64_t> number(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (::dwarf_formudata(::dwarf_attr_integrate(&die, attribute, &found), &value) != 0) return std::nullopt;
  return value;
}

bool flag(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute found;
  bool value = false;
  return ::dwarf_formflag(::dwarf_attr_integrate(&die, attribute, &found), &value) == 0 && value;
}

std::string name_of(Dwarf_Die die) {
  const char* name = ::dwarf_diename(&die);
  return name ? std::string(name).substr(0, kMaxText) : std::string();
}

bool is_pointer(int tag) {
  return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool is_struct(int tag) { return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type; }

bool is_qualifier(int tag) {
  return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
         tag == DW_TAG_atomic_type;
}

bool is_part(Dwarf_Die member) {
  const int tag = ::dwarf_tag(&member);
  return tag == DW_TAG_inheritance ||
         (tag == DW_TAG_member && !flag(member, DW_AT_external) && !flag(member, DW_AT_declaration));
}

Peeled peel(std::optional<Dwarf_Die> die) {
  Peeled out{die, "", false};
  for (int i = 0; out.die && i < kMaxPeeled; ++i) {
    const int tag = ::dwarf_tag(&*out.die);
    if (tag == DW_TAG_typedef && out.name.empty()) out.name = name_of(*out.die);
    else if (tag == DW_TAG_const_type) out.is_const = true;
    else if (tag != DW_TAG_typedef && !is_qualifier(tag)) break;
    out.die = type_die(*out.die);
  }
  if (out.name.empty() && out.die) out.name = name_of(*out.die);
  return out;
}

}  // namespace fade::elf
