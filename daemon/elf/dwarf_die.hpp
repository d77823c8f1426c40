// Properties of one entry of debug information. All functions follow abstract origin and specification.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace fade::elf {

std::optional<Dwarf_Die> type_die(Dwarf_Die die);  // the target of DW_AT_type; nullopt is void
std::optional<std::uint64_t> number(Dwarf_Die die, unsigned attribute);
bool flag(Dwarf_Die die, unsigned attribute);
std::string name_of(Dwarf_Die die);  // cut at 256 characters; empty if it has none

bool is_pointer(int tag);    // true for references too
bool is_struct(int tag);     // true for classes and unions too
bool is_qualifier(int tag);  // const and similar
// True for a member or base class that is part of the object; false for static members.
bool is_part(Dwarf_Die member);

// A type without typedefs and qualifiers; nullopt is void. The first typedef gives the name to show.
struct Peeled {
  std::optional<Dwarf_Die> die;
  std::string name;
  bool is_const = false;
};
Peeled peel(std::optional<Dwarf_Die> die);

// Calls visit(child) for each child until visit returns false. Visits at most `limit`, because sibling links may form a
// circle.
template <class Visit>
void for_each_child(Dwarf_Die die, int limit, Visit&& visit) {
  Dwarf_Die child;
  bool more = ::dwarf_child(&die, &child) == 0;
  for (; more && limit > 0; --limit, more = ::dwarf_siblingof(&child, &child) == 0)
    if (!visit(child)) return;
}

}  // namespace fade::elf
