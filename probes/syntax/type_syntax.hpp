// The syntax of a type: "const unsigned long long **". Shared by prototypes, struct fields and typedefs.
#pragma once
#include <optional>
#include <string>

#include "probes/syntax/cursor.hpp"
#include "probes/types.hpp"

namespace fade::probes {

struct WrittenType {
  Token at;               // where it begins
  std::string base;       // in its one canonical spelling: "unsigned int"
  bool is_const = false;  // the target of the first * is const
  unsigned stars = 0;     // * and &

  std::string text() const;  // "const void **"
  Type as_pointer() const { return {TypeClass::Pointer, 8, text()}; }
  WrittenType pointed_to() const;  // with one star less
  bool is_text() const { return base == "char" && stars == 1 && is_const; }
};

std::optional<WrittenType> parse_written_type(Cursor& cursor, std::string_view what);

// The declaration of a base type by value. Complains about an unknown type and names similar ones.
const TypeDeclaration* resolve(Cursor& cursor, const WrittenType& type, const Types& types);

// The type of a value written like this: the result of resolve(), or a pointer.
std::optional<Type> value_type(Cursor& cursor, const WrittenType& type, const Types& types);

}  // namespace fade::probes
