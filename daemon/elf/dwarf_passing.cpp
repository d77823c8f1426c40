#include "elf/dwarf_passing.hpp"

#include <dwarf.h>

#include <string>

#include "elf/dwarf_die.hpp"

namespace fade::elf {
namespace {

constexpr int kMaxParts = 65'536;
constexpr int kMaxPartDepth = 8;
constexpr int kMaxCopyParameters = 3;

bool begins(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

// "vector<int>" is constructed by "vector".
std::string without_arguments(const std::string& name) { return name.substr(0, name.find('<')); }

// Declared by the compiler or "= default" in the class: the members decide.
bool is_default(Dwarf_Die function) {
  return flag(function, DW_AT_artificial) || number(function, DW_AT_defaulted) == std::uint64_t{DW_DEFAULTED_in_class};
}

// X(const X&) or X(X&&).
bool copies(Dwarf_Die constructor, const Dwarf_Die& type) {
  int seen = 0;
  bool reference_to_own = false;
  for_each_child(constructor, kMaxCopyParameters, [&](Dwarf_Die& parameter) {
    if (::dwarf_tag(&parameter) != DW_TAG_formal_parameter || ++seen != 2) return true;  // the first one is `this`
    Peeled written = peel(type_die(parameter));
    const int tag = written.die ? ::dwarf_tag(&*written.die) : 0;
    if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type) return true;
    const Peeled target = peel(type_die(*written.die));
    reference_to_own = target.die && target.die->addr == type.addr;
    return true;
  });
  return reference_to_own && seen == 2;
}

bool is_own_special_function(Dwarf_Die function, const Dwarf_Die& type, const std::string& class_name) {
  if (::dwarf_tag(&function) != DW_TAG_subprogram || is_default(function)) return false;
  const std::string name = name_of(function);
  return begins(name, "~") || (name == class_name && !name.empty() && copies(function, type));
}

bool needs_address(Dwarf_Die type, int depth);

bool part_needs_address(Dwarf_Die member, int depth) {
  if (!is_part(member)) return false;
  if (number(member, DW_AT_virtuality).value_or(0) != 0 || begins(name_of(member), "_vptr")) return true;
  Peeled part = peel(type_die(member));
  if (part.die && ::dwarf_tag(&*part.die) == DW_TAG_array_type) part = peel(type_die(*part.die));
  return part.die && is_struct(::dwarf_tag(&*part.die)) && needs_address(*part.die, depth - 1);
}

bool needs_address(Dwarf_Die type, int depth) {
  if (depth == 0) return false;
  const auto told = number(type, DW_AT_calling_convention);
  if (told == std::uint64_t{DW_CC_pass_by_reference}) return true;
  if (told == std::uint64_t{DW_CC_pass_by_value}) return false;
  const std::string class_name = without_arguments(name_of(type));
  bool out = false;
  for_each_child(type, kMaxParts, [&](Dwarf_Die& member) {
    out = is_own_special_function(member, type, class_name) || part_needs_address(member, depth);
    return !out;
  });
  return out;
}

}  // namespace

bool passed_by_address(Dwarf_Die die) {
  Peeled type = peel(type_die(die));
  return type.die && is_struct(::dwarf_tag(&*type.die)) && needs_address(*type.die, kMaxPartDepth);
}

bool passed_as_nothing(Dwarf_Die die) {
  Peeled type = peel(type_die(die));
  if (!type.die || !is_struct(::dwarf_tag(&*type.die))) return false;
  if (number(*type.die, DW_AT_byte_size).value_or(~0ull) > 1 || passed_by_address(die)) return false;
  bool has_parts = false;  // true for an empty base class too: the whole is then not understood
  for_each_child(*type.die, kMaxParts, [&](Dwarf_Die& member) { return !(has_parts = is_part(member)); });
  return !has_parts;
}

}  // namespace fade::elf
