#include "elf/dwarf_types.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "elf/dwarf_die.hpp"

namespace fade::elf {
namespace {

using probes::Type;
using probes::TypeClass;

constexpr int kMaxStars = 32;
constexpr int kMaxTypeDepth = 8;  // nesting of structs
constexpr int kMaxFields = 1024;
constexpr int kMaxTypeMembers = 65'536;  // including functions and types declared in the class
constexpr int kMaxDimensions = 8;
constexpr int kMaxEnumerators = 4096;

// DW_AT_byte_size. Not dwarf_aggregate_size(), which never returns if types form a circle.
std::uint32_t size_of(Dwarf_Die die) {
  const auto size = number(die, DW_AT_byte_size).value_or(0);
  return size > 0xffffffff ? 0 : static_cast<std::uint32_t>(size);
}

// The number of elements over all dimensions; 0 if one dimension is unknown.
std::uint32_t elements_of(Dwarf_Die array) {
  std::uint64_t out = 1;
  for_each_child(array, kMaxDimensions, [&](Dwarf_Die& range) {
    if (::dwarf_tag(&range) != DW_TAG_subrange_type) return true;
    const auto last = number(range, DW_AT_upper_bound);
    const std::uint64_t n = number(range, DW_AT_count).value_or(last ? *last + 1 : 0);
    out = n > 0xffffffff || out * n > 0xffffffff ? 0 : out * n;
    return out != 0;
  });
  return static_cast<std::uint32_t>(out);
}

struct Encoding {
  std::uint64_t encoding;
  std::uint32_t size;  // 0: any
  TypeClass cls;
};
constexpr Encoding kEncodings[] = {
    {DW_ATE_boolean, 1, TypeClass::Bool},
    {DW_ATE_signed_char, 1, TypeClass::Signed},
    {DW_ATE_unsigned_char, 1, TypeClass::Unsigned},
    {DW_ATE_signed, 0, TypeClass::Signed},
    {DW_ATE_unsigned, 0, TypeClass::Unsigned},
    {DW_ATE_UTF, 0, TypeClass::Unsigned},
    {DW_ATE_float, 4, TypeClass::Float},
    {DW_ATE_float, 8, TypeClass::Double},
};

Result<Type> read_base(Dwarf_Die die, Type shown) {
  const auto encoding = number(die, DW_AT_encoding).value_or(0);
  for (const Encoding& row : kEncodings) {
    if (row.encoding != encoding || (row.size != 0 && row.size != shown.size) || shown.size > 8) continue;
    shown.cls = name_of(die) == "char" ? TypeClass::Char : shown.name == "size_t" ? TypeClass::Size : row.cls;
    return shown;
  }
  return fail(fmt::format("the type {} is passed in a way that is not supported", shown.name));
}

}  // namespace

std::string DwarfTypes::text_of(Dwarf_Die die) {
  std::string suffix;
  std::string prefix;
  std::optional<Dwarf_Die> at = die;
  for (int i = 0; at && i < kMaxStars; ++i) {
    const int tag = ::dwarf_tag(&*at);
    if (is_pointer(tag)) {
      if (prefix == "const ") {
        suffix.insert(0, " const");
        prefix.clear();
      }
      suffix.insert(0, tag == DW_TAG_pointer_type ? "*" : "&");
    } else if (tag == DW_TAG_const_type) {
      prefix = "const ";
    } else if (!is_qualifier(tag)) {
      break;
    }
    at = type_die(*at);
  }
  std::string name = at ? name_of(*at) : "void";
  if (name.empty()) name = at && ::dwarf_tag(&*at) == DW_TAG_subroutine_type ? "function" : "(anonymous)";
  return prefix + name + (suffix.empty() ? "" : " ") + suffix;
}

Result<Type> DwarfTypes::type_of(Dwarf_Die die) {
  const auto type = type_die(die);
  if (!type) return Type{TypeClass::Void, 0, "void"};
  return read(*type, kMaxTypeDepth);
}

Result<Type> DwarfTypes::read(Dwarf_Die written, int depth) {
  Peeled type = peel(written);
  if (!type.die) return Type{TypeClass::Void, 0, "void"};
  const int tag = ::dwarf_tag(&*type.die);
  Type shown{TypeClass::Pointer, 8, type.name};
  if (is_pointer(tag)) {
    const Peeled target = peel(type_die(*type.die));
    const bool text = tag == DW_TAG_pointer_type && target.is_const && target.die && name_of(*target.die) == "char";
    shown.cls = text ? TypeClass::CString : TypeClass::Pointer;
    if (shown.name.empty()) shown.name = text_of(*type.die);
    return shown;
  }
  if (tag == DW_TAG_unspecified_type) return shown;  // nullptr_t
  shown.size = size_of(*type.die);
  if (tag == DW_TAG_base_type) return read_base(*type.die, shown);
  if (tag == DW_TAG_enumeration_type) return read_enum(*type.die, shown);
  if (is_struct(tag)) return read_struct(*type.die, shown, depth);
  return fail(fmt::format("the type {} is passed in a way that is not supported",
                          type.name.empty() ? fmt::format("(DWARF tag {:#x})", tag) : type.name));
}

Type DwarfTypes::read_enum(Dwarf_Die type, Type shown) {
  shown.cls = TypeClass::Enum;
  if (shown.size == 0) shown.size = 4;
  if (shown.name.empty()) shown.name = fmt::format("enum#{:x}", ::dwarf_dieoffset(&type));
  if (to_.declared_here(shown.name)) return shown;
  probes::TypeDeclaration declaration;
  declaration.type = shown;
  declaration.alignment = shown.size;
  for_each_child(type, kMaxEnumerators, [&](Dwarf_Die& value) {
    Dwarf_Attribute attribute;
    Dwarf_Sword is = 0;
    if (::dwarf_tag(&value) == DW_TAG_enumerator &&
        ::dwarf_formsdata(::dwarf_attr(&value, DW_AT_const_value, &attribute), &is) == 0)
      declaration.values.push_back({name_of(value), is});
    return true;
  });
  to_.declare(shown.name, std::move(declaration));
  return shown;
}

Result<Type> DwarfTypes::read_struct(Dwarf_Die type, Type shown, int depth) {
  if (shown.name.empty()) shown.name = fmt::format("struct#{:x}", ::dwarf_dieoffset(&type));
  shown.cls = shown.name == "dim3" && shown.size == 12 ? TypeClass::Dim3 : TypeClass::Struct;
  if (shown.cls == TypeClass::Dim3 || to_.declared_here(shown.name)) return shown;
  if (shown.size == 0 || depth == 0) return fail(fmt::format("the structure {} has no known layout", shown.name));
  probes::TypeDeclaration declaration;
  declaration.type = shown;
  Result<void> added;
  for_each_child(type, kMaxTypeMembers, [&](Dwarf_Die& member) {
    if (!is_part(member)) return true;
    added = ++fields_ > kMaxFields ? fail(fmt::format("the structure {} has too many fields", shown.name))
                                   : add_field(member, declaration, depth - 1);
    return added.has_value();
  });
  // A struct larger than two eightbytes is always in memory, so its fields are only for display.
  if (!added && shown.size <= 16) return tl::unexpected(added.error());
  to_.declare(shown.name, std::move(declaration));
  return shown;
}

Result<void> DwarfTypes::add_field(Dwarf_Die member, probes::TypeDeclaration& to, int depth) {
  auto written = type_die(member);
  if (!written) return fail("a field has no type");
  Peeled array = peel(written);
  std::uint32_t count = 1;
  if (array.die && ::dwarf_tag(&*array.die) == DW_TAG_array_type) {
    if (flag(*array.die, DW_AT_GNU_vector)) return fail("a field is a vector");
    count = elements_of(*array.die);
    written = type_die(*array.die);
    if (!written) return fail("a field is an array of nothing");
  }
  const auto type = read(*written, depth);
  if (!type) return tl::unexpected(type.error());
  const auto bits = number(member, DW_AT_data_bit_offset);
  const std::uint64_t offset = bits ? *bits / 8 : number(member, DW_AT_data_member_location).value_or(0);
  const std::uint32_t whole_size = to.type.size;
  if (type->size == 0 || count == 0) return {};  // a flexible array at the end
  if (offset > whole_size || std::uint64_t{type->size} * count > whole_size - offset) {
    if (!bits) return fail(fmt::format("a field of the structure {} lies outside of it", to.type.name));
  }
  // A packed field that is not aligned puts the whole structure into memory (ABI 3.2.3, rule 1).
  if (type->cls != TypeClass::Struct && !bits && offset % std::max(type->size, 1u) != 0)
    return fail(fmt::format("the structure {} is packed", to.type.name));
  if (type->cls != TypeClass::Struct) to.alignment = std::max(to.alignment, std::min(type->size, 16u));
  to.fields.push_back({name_of(member), *type, static_cast<std::uint32_t>(offset), count});
  return {};
}

}  // namespace fade::elf
