// Small questions to one entry of debug information. All of them follow abstract origin and specification.
#pragma once
#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>

namespace fade::elf {

std::optional<Dwarf_Die> type_die(Dwarf_Die die);  // what DW_AT_type refers to; nullopt is void
std::optional<std::uint64_t> number(Dwarf_Die die, unsigned attribute);
bool flag(Dwarf_Die die, unsigned attribute);
std::string name_of(Dwarf_Die die);  // cut at 256 characters, empty where it has none

bool is_pointer(int tag);    // or reference
bool is_struct(int tag);     // or class or union
bool is_qualifier(int tag);  // const and the like
// A member or base class that takes part of the object: no static one.
bool is_part(Dwarf_Die member);

// What is left without typedefs and qualifiers; nullopt is void. The first typedef gives the name to show.
struct Peeled {
  std::optional<Dwarf_Die> die;
  std::string name;
  bool is_const = false;
};
Peeled peel(std::optional<Dwarf_Die> die);

// Calls visit(child) for each child until it returns false; no more than `limit`, for siblings may go in circles.
template <class Visit>
void for_each_child(Dwarf_Die die, int limit, Visit&& visit) {
  Dwarf_Die child;
  bool more = ::dwarf_child(&die, &child) == 0;
  for (; more && limit > 0; --limit, more = ::dwarf_siblingof(&child, &child) == 0)
    if (!visit(child)) return;
}

}  // namespace fade::elf
