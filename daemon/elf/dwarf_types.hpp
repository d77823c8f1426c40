// DWARF types as types of probes: size, class and, for enums and structs, a declaration with names and fields. Refuses
// types that the calling convention passes in ways that a Probe cannot express.
#pragma once
#include <elfutils/libdw.h>

#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "probes/types.hpp"

namespace fade::elf {

class DwarfTypes {
 public:
  // Types are declared in `to`, which must outlive this object.
  explicit DwarfTypes(probes::Types& to) : to_(to) {}

  // The type that `die` (a function, parameter or member) has by DW_AT_type; Void if it has none.
  Result<probes::Type> type_of(Dwarf_Die die);
  // The type as in the source: "const Scene *".
  static std::string text_of(Dwarf_Die die);

 private:
  Result<probes::Type> read(Dwarf_Die type, int depth);
  Result<probes::Type> read_struct(Dwarf_Die type, probes::Type shown, int depth);
  Result<void> add_field(Dwarf_Die member, probes::TypeDeclaration& to, int depth);
  probes::Type read_enum(Dwarf_Die type, probes::Type shown);

  probes::Types& to_;
  int fields_ = 0;
};

}  // namespace fade::elf
