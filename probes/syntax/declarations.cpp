#include "probes/syntax/declarations.hpp"

#include <algorithm>
#include <limits>

#include "base/suggest.hpp"
#include "probes/syntax/type_syntax.hpp"
#include "probes/vocabulary.hpp"

namespace fade::probes {
namespace {

constexpr std::uint32_t kLargestStruct = 64 * 1024;
constexpr std::size_t kMostMembers = 4096;

std::optional<std::string> new_name(Cursor& cursor, const Types& types, std::string_view what) {
  const auto token = cursor.expect_word(what);
  if (!token) return std::nullopt;
  if (types.declared_here(token->text)) {
    cursor.complain(*token, fmt::format("expected a new name, but '{}' is declared above", token->text));
    return std::nullopt;
  }
  return std::string(token->text);
}

// ---- enum and flags: NAME [SIZE] [{ NAME = VALUE [VERSIONS] ... }]

// A version bound: 6 or 5.7. Alone, 6 means all of 6.0 to 6.99.
struct Bound {
  Version first, last;
};
std::optional<Bound> parse_bound(Cursor& cursor) {
  const auto major = cursor.expect_number("a version such as 6 or 5.7");
  if (!major || *major == 0 || *major > 999)
    return major ? (cursor.expected("a version from 1 to 999"), std::nullopt) : std::nullopt;
  const int base = static_cast<int>(*major);
  if (!cursor.accept('.')) return Bound{version_of(base, 0), version_of(base, 99)};
  const auto minor = cursor.expect_number("the part of the version after the dot");
  if (!minor) return std::nullopt;
  const Version exact = version_of(base, static_cast<int>(std::min<std::uint64_t>(*minor, 99)));
  return Bound{exact, exact};
}

// [6-]  [-5.6]  [6-6.3]  [5]
bool parse_versions(Cursor& cursor, EnumValue& value) {
  if (!cursor.accept('[')) return true;
  if (!cursor.sees('-')) {
    const auto first = parse_bound(cursor);
    if (!first) return false;
    value.from = first->first;
    value.to = first->last;
  }
  if (cursor.accept('-')) {
    value.to = kNewest;
    if (!cursor.sees(']')) {
      const Token at = cursor.peek();
      const auto last = parse_bound(cursor);
      if (!last) return false;
      if (last->last < value.from) return cursor.complain(at, "expected a version that is not before the first one");
      value.to = last->last;
    }
  }
  return cursor.expect(']', "after the versions");
}

bool parse_enum_value(Cursor& cursor, TypeDeclaration& out) {
  const auto name = cursor.expect_word("the name of a value or '}'");
  if (!name || !cursor.expect('=', "and its value")) return false;
  const auto number = cursor.expect_signed("a number");
  if (!number) return false;
  EnumValue value{.name = std::string(name->text), .value = *number};
  if (!parse_versions(cursor, value)) return false;
  if (out.values.size() >= kMostMembers)
    return cursor.complain(*name, fmt::format("expected at most {} values", kMostMembers));
  out.values.push_back(std::move(value));
  cursor.accept(',');
  return true;
}

bool parse_enum_body(Cursor& cursor, TypeDeclaration& out) {
  Cursor::Nested nested(cursor);
  cursor.take();
  while (!cursor.sees('}')) {
    if (cursor.at_end()) return cursor.expected("'}'");
    if (!parse_enum_value(cursor, out)) return false;
  }
  return cursor.accept('}');
}

bool parse_enum(Cursor& cursor, Types& types, TypeClass cls) {
  cursor.take();
  auto name = new_name(cursor, types, "the name of the type");
  if (!name) return false;
  TypeDeclaration out{.type = {cls, 4, *name}, .alignment = 4};
  if (cursor.peek().kind == Token::Kind::Number) {
    const Token size = cursor.take();
    if (size.number != 1 && size.number != 2 && size.number != 4 && size.number != 8)
      return cursor.complain(size, "expected a size of 1, 2, 4 or 8 bytes");
    out.type.size = out.alignment = static_cast<std::uint32_t>(size.number);
  }
  if (cursor.sees('{') && !parse_enum_body(cursor, out)) return false;
  cursor.accept(';');
  if (!cursor.expect_line_end()) return false;
  types.declare(*name, std::move(out));
  return true;
}

// ---- handle NAME ...

bool parse_handles(Cursor& cursor, Types& types) {
  cursor.take();
  do {
    auto name = new_name(cursor, types, "the name of a handle type");
    if (!name) return false;
    types.declare(*name, {.type = {TypeClass::Handle, 8, *name}, .alignment = 8});
    cursor.accept(',');
  } while (cursor.peek().kind == Token::Kind::Word);
  cursor.accept(';');
  return cursor.expect_line_end();
}

// ---- typedef TYPE NAME

bool parse_typedef(Cursor& cursor, Types& types) {
  cursor.take();
  const auto written = parse_written_type(cursor, "a type");
  if (!written) return false;
  auto name = new_name(cursor, types, "the new name of the type");
  if (!name) return false;
  TypeDeclaration out{.type = {TypeClass::Pointer, 8, {}}, .alignment = 8};
  if (written->stars == 0) {
    const TypeDeclaration* base = resolve(cursor, *written, types);
    if (!base) return false;
    out = *base;
  }
  cursor.accept(';');
  if (!cursor.expect_line_end()) return false;
  out.type.name = *name;
  types.declare(*name, std::move(out));
  return true;
}

// ---- struct NAME [SIZE] [{ TYPE name[COUNT] @at(OFFSET) @ROLE; ... }]

bool parse_field_notes(Cursor& cursor, Field& field) {
  while (cursor.accept('@')) {
    const auto word = cursor.expect_word("at(OFFSET) or a role");
    if (!word) return false;
    if (word->text == "at") {
      if (!cursor.expect('(', "after @at")) return false;
      const auto offset = cursor.expect_number("an offset in bytes");
      if (!offset || !cursor.expect(')', "after the offset")) return false;
      field.offset = static_cast<std::uint32_t>(std::min<std::uint64_t>(*offset, kLargestStruct));
    } else if (const auto role = role_named(word->text)) {
      field.role = *role;
    } else {
      const std::string near = nearest(word->text, role_words());
      return cursor.complain(*word, fmt::format("expected at(OFFSET) or a role, found '{}'{}", word->text,
                                                near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
  }
  return true;
}

std::uint32_t aligned_offset(std::uint32_t offset, std::uint32_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

bool parse_field(Cursor& cursor, const Types& types, TypeDeclaration& out, std::uint32_t& end) {
  const auto written = parse_written_type(cursor, "the type of a field or '}'");
  if (!written) return false;
  const auto type = value_type(cursor, *written, types);
  if (!type) return false;
  const auto name = cursor.expect_word("the name of the field");
  if (!name) return false;
  if (type->size == 0) return cursor.complain(written->at, "expected a type that has a size");
  Field field{.name = std::string(name->text), .type = *type};
  if (cursor.accept('[')) {
    const auto count = cursor.expect_number("the number of elements");
    if (!count || !cursor.expect(']', "after the number of elements")) return false;
    field.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(*count, kLargestStruct));
  }
  const TypeDeclaration* base = written->stars ? nullptr : types.find(written->base);
  const std::uint32_t alignment = base ? base->alignment : 8;
  field.offset = aligned_offset(end, alignment);
  if (!parse_field_notes(cursor, field) || !cursor.expect(';', "after the field")) return false;
  // Fields must be in order and must not overlap, so that reading a layout takes time in proportion to its size.
  if (field.offset < end) return cursor.complain(*name, fmt::format("expected an offset of at least {}", end));
  if (field.count == 0) return cursor.complain(*name, "expected at least one element");
  const std::uint64_t last = std::uint64_t{field.offset} + std::uint64_t{field.count} * field.type.size;
  if (last > kLargestStruct || out.fields.size() >= kMostMembers)
    return cursor.complain(*name, fmt::format("expected a struct of at most {} bytes", kLargestStruct));
  end = static_cast<std::uint32_t>(last);
  out.alignment = std::max(out.alignment, alignment);
  out.fields.push_back(std::move(field));
  return true;
}

bool parse_struct_body(Cursor& cursor, const Types& types, TypeDeclaration& out) {
  Cursor::Nested nested(cursor);
  const Token open = cursor.take();
  std::uint32_t end = 0;
  while (!cursor.sees('}')) {
    if (cursor.at_end()) return cursor.expected("'}'");
    if (!parse_field(cursor, types, out, end)) return false;
  }
  cursor.take();
  if (out.type.size == 0) out.type.size = aligned_offset(end, out.alignment);
  if (end > out.type.size)
    return cursor.complain(open,
                           fmt::format("expected fields that fit into {} bytes, but they take {}", out.type.size, end));
  return true;
}

bool parse_struct(Cursor& cursor, Types& types) {
  const Token keyword = cursor.take();
  const Token at = cursor.peek();
  auto name = new_name(cursor, types, "the name of the struct");
  if (!name) return false;
  TypeDeclaration out{.type = {TypeClass::Struct, 0, *name}};
  if (cursor.peek().kind == Token::Kind::Number) {
    const Token size = cursor.take();
    if (size.number == 0 || size.number > kLargestStruct)
      return cursor.complain(size, fmt::format("expected a size from 1 to {} bytes", kLargestStruct));
    out.type.size = static_cast<std::uint32_t>(size.number);
  }
  if (cursor.sees('{')) {
    if (keyword.text == "union")
      return cursor.expected("only a size: members of a union lie over each other and are not shown");
    if (!parse_struct_body(cursor, types, out)) return false;
  }
  cursor.accept(';');
  if (out.type.size == 0) return cursor.complain(at, "expected a size in bytes or { fields } after the name");
  if (!cursor.expect_line_end()) return false;
  types.declare(*name, std::move(out));
  return true;
}

// ---- success TYPE VALUE

bool parse_success(Cursor& cursor, Types& types) {
  cursor.take();
  const auto written = parse_written_type(cursor, "the result type");
  if (!written || (written->stars == 0 && !resolve(cursor, *written, types))) return false;
  if (written->stars) return cursor.complain(written->at, "expected a type that is no pointer");
  const auto value = cursor.expect_signed("the value that means success");
  if (!value || !cursor.expect_line_end()) return false;
  types.set_success(written->base, *value);
  return true;
}

}  // namespace

bool sees_declaration(const Cursor& cursor) {
  for (const std::string_view word : {"enum", "struct", "union"})
    if (cursor.sees_word(word)) return cursor.peek(2).kind != Token::Kind::Word && !cursor.sees('*', 2);
  for (const std::string_view word : {"flags", "handle", "typedef", "success"})
    if (cursor.sees_word(word)) return true;
  return false;
}

bool parse_declaration(Cursor& cursor, Types& types) {
  if (cursor.sees_word("enum")) return parse_enum(cursor, types, TypeClass::Enum);
  if (cursor.sees_word("flags")) return parse_enum(cursor, types, TypeClass::Flags);
  if (cursor.sees_word("handle")) return parse_handles(cursor, types);
  if (cursor.sees_word("typedef")) return parse_typedef(cursor, types);
  if (cursor.sees_word("success")) return parse_success(cursor, types);
  return parse_struct(cursor, types);
}

}  // namespace fade::probes
