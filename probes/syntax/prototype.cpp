#include "probes/syntax/prototype.hpp"

#include <algorithm>
#include <limits>

#include "base/suggest.hpp"
#include "probes/abi.hpp"
#include "probes/syntax/memory_note.hpp"
#include "probes/syntax/type_syntax.hpp"
#include "probes/vocabulary.hpp"

namespace fade::probes {
namespace {

constexpr std::size_t kMostParameters = 64;
constexpr std::uint64_t kLongestArray = 64 * 1024;

// A parameter as it is read; its length is looked up once all names are known.
struct Draft {
  Parameter parameter;
  WrittenType written;
  Token at;
  Token length;  // a Word if the length is another parameter
  bool directed = false;
  bool is_array = false;
  bool as_text = false;
};

bool complain_near(Cursor& cursor, const Token& at, std::string_view expected, std::vector<std::string> known) {
  const std::string near = nearest(at.text, known);
  return cursor.complain(at, fmt::format("expected {}, found '@{}'{}", expected, at.text,
                                         near.empty() ? "" : "; did you mean '@" + near + "'?"));
}

// ---- notes after a parameter

// (TYPE) after @flags or @enum: shows the number with the names of that type.
bool parse_named_values(Cursor& cursor, const Types& types, Draft& draft) {
  cursor.take();
  const auto name = cursor.expect_word("the name of an enum or flags type");
  if (!name) return false;
  const TypeDeclaration* declaration = types.find(name->text);
  if (!declaration || declaration->values.empty())
    return cursor.complain(*name, fmt::format("expected an enum or flags type with values, found '{}'", name->text));
  // The shown number is the parameter itself, or the number behind the pointer.
  Type& shown = draft.directed ? draft.parameter.pointee : draft.parameter.type;
  if (shown.size == 0 || shown.size > 8 || shown.cls == TypeClass::Pointer)
    return cursor.complain(*name, "expected a parameter that is a number");
  shown.cls = declaration->type.cls;
  shown.name = declaration->type.name;
  return cursor.expect(')', "after the type");
}

// @only("PATTERN", ...)
bool parse_only_note(Cursor& cursor, Draft& draft) {
  if (!cursor.expect('(', "and a pattern in quotes")) return false;
  do {
    if (cursor.peek().kind != Token::Kind::String || cursor.peek().text.empty())
      return cursor.expected("a pattern in quotes, such as \"/dev/kfd*\"");
    draft.parameter.only.emplace_back(cursor.take().text);
  } while (cursor.accept(','));
  return cursor.expect(')', "after the patterns");
}

constexpr std::string_view kParameterNotes = "a role, text, only(...), flags(TYPE) or enum(TYPE)";

bool parse_parameter_note(Cursor& cursor, const Types& types, Draft& draft) {
  const auto word = cursor.expect_word(kParameterNotes);
  if (!word) return false;
  if (word->text == "only") return parse_only_note(cursor, draft);
  if (word->text == "text") return draft.as_text = true;
  if (word->text == "flags") draft.parameter.role = Role::Flags;
  if (word->text == "enum" || word->text == "flags") {
    if (cursor.sees('(')) return parse_named_values(cursor, types, draft);
    return word->text == "flags" || cursor.expected("(TYPE) after @enum");
  }
  const auto role = role_named(word->text);
  if (!role) {
    auto known = role_words();
    known.insert(known.end(), {"text", "enum", "only"});
    return complain_near(cursor, *word, kParameterNotes, std::move(known));
  }
  draft.parameter.role = *role;
  return true;
}

// ---- one parameter

bool parse_direction(Cursor& cursor, Draft& draft) {
  constexpr std::pair<std::string_view, Direction> kWords[] = {
      {"in", Direction::In}, {"out", Direction::Out}, {"inout", Direction::InOut}};
  for (const auto& [word, direction] : kWords) {
    if (!cursor.sees_word(word)) continue;
    cursor.take();
    draft.parameter.direction = direction;
    return draft.directed = true;
  }
  return false;
}

bool parse_array(Cursor& cursor, Draft& draft) {
  if (!cursor.accept('[')) return true;
  draft.is_array = true;
  ++draft.written.stars;
  const Token length = cursor.peek();
  if (length.kind == Token::Kind::Number) {
    if (length.number == 0 || length.number > kLongestArray)
      return cursor.expected(fmt::format("a length from 1 to {}", kLongestArray));
    draft.parameter.count = static_cast<std::uint32_t>(length.number);
    cursor.take();
  } else if (length.kind == Token::Kind::Word) {
    draft.length = cursor.take();
  }
  return cursor.expect(']', "after the length");
}

// The pointee is set only if it is read.
bool set_types(Cursor& cursor, const Types& types, Draft& draft) {
  Parameter& parameter = draft.parameter;
  const auto type = value_type(cursor, draft.written, types);
  if (!type) return false;
  parameter.type = *type;
  if (draft.written.stars == 0) {
    if (type->cls == TypeClass::Void)
      return cursor.complain(draft.written.at, "expected a type that has a value, found 'void'");
    if (draft.directed) return cursor.complain(draft.written.at, "expected a pointer after in, out or inout");
    return true;
  }
  if (!draft.directed) return true;
  const auto pointee = value_type(cursor, draft.written.pointed_to(), types);
  if (!pointee) return false;
  if (pointee->size == 0)
    return cursor.complain(draft.written.at,
                           "expected a type that has a size, found 'void'; bytes are read as uint8_t name[LENGTH]");
  parameter.pointee = *pointee;
  const bool gives_text = draft.written.pointed_to().is_text() && !draft.is_array;
  if (gives_text && parameter.direction == Direction::Out) parameter.pointee.cls = TypeClass::CString;
  return true;
}

// const char * is text unless a direction or a length says otherwise. @text marks other pointers as text.
bool set_text(Cursor& cursor, Draft& draft) {
  const bool plain = !draft.directed && !draft.is_array;
  if (draft.as_text && !(draft.written.stars == 1 && plain))
    return cursor.complain(draft.at, "expected one star and no direction for @text");
  const bool implied = draft.written.is_text() && !draft.is_array && draft.parameter.direction == Direction::In;
  if (!draft.as_text && !implied) return true;
  draft.parameter.type.cls = TypeClass::CString;
  draft.parameter.pointee = {};
  return true;
}

bool parse_parameter(Cursor& cursor, const Types& types, std::size_t number, Draft& draft) {
  parse_direction(cursor, draft);
  auto written = parse_written_type(cursor, "the type of a parameter");
  if (!written) return false;
  draft.written = std::move(*written);
  draft.at = cursor.peek();
  draft.parameter.name =
      cursor.peek().kind == Token::Kind::Word ? std::string(cursor.take().text) : fmt::format("arg{}", number);
  if (!parse_array(cursor, draft) || !set_types(cursor, types, draft)) return false;
  while (cursor.accept('@'))
    if (!parse_parameter_note(cursor, types, draft)) return false;
  return set_text(cursor, draft);
}

// ---- all parameters

bool accept_variadic(Cursor& cursor) {
  if (!cursor.sees('.') || !cursor.sees('.', 1) || !cursor.sees('.', 2)) return false;
  for (int i = 0; i < 3; ++i) cursor.take();
  return true;
}

bool resolve_lengths(Cursor& cursor, std::vector<Draft>& drafts) {
  for (Draft& draft : drafts) {
    if (draft.length.kind != Token::Kind::Word) continue;
    const auto found = std::find_if(drafts.begin(), drafts.end(),
                                    [&](const Draft& other) { return other.parameter.name == draft.length.text; });
    const bool usable = found != drafts.end() && found->written.stars == 0 && found->parameter.type.size <= 8 &&
                        found->parameter.type.cls != TypeClass::Float && found->parameter.type.cls != TypeClass::Double;
    if (!usable)
      return cursor.complain(draft.length, "expected a number or a parameter of this function that is a number");
    draft.parameter.length_param = static_cast<int>(found - drafts.begin());
  }
  return true;
}

bool add_draft(Cursor& cursor, std::vector<Draft>& drafts, Draft draft) {
  const bool known = std::any_of(drafts.begin(), drafts.end(),
                                 [&](const Draft& other) { return other.parameter.name == draft.parameter.name; });
  if (known)
    return cursor.complain(
        draft.at, fmt::format("expected a new name, but a parameter '{}' stands before", draft.parameter.name));
  if (drafts.size() >= kMostParameters)
    return cursor.complain(draft.at, fmt::format("expected at most {} parameters", kMostParameters));
  drafts.push_back(std::move(draft));
  return true;
}

bool parse_parameters(Cursor& cursor, const Types& types, Probe& out) {
  Cursor::Nested nested(cursor);
  if (!cursor.expect('(', "and the parameters")) return false;
  if (cursor.sees_word("void") && cursor.sees(')', 1)) cursor.take();
  std::vector<Draft> drafts;
  while (!cursor.sees(')') && !accept_variadic(cursor)) {
    Draft draft;
    if (!parse_parameter(cursor, types, drafts.size() + 1, draft) || !add_draft(cursor, drafts, std::move(draft)))
      return false;
    if (cursor.sees(')')) break;
    if (!cursor.expect(',', "or ')' after the parameter")) return false;
    if (cursor.sees(')')) return cursor.complain(cursor.peek(), "expected a parameter after ','");
  }
  if (!cursor.expect(')', "after the parameters")) return false;
  if (!resolve_lengths(cursor, drafts)) return false;
  for (Draft& draft : drafts) out.parameters.push_back(std::move(draft.parameter));
  return true;
}

// ---- notes after the function

bool parse_values(Cursor& cursor, std::vector<std::int64_t>& out) {
  if (!cursor.expect('(', "and a value")) return false;
  do {
    const auto value = cursor.expect_signed("a result value");
    if (!value) return false;
    out.push_back(*value);
  } while (cursor.accept(','));
  return cursor.expect(')', "after the values");
}

// @ok(600) lists results that are not failures; @ok alone means that no result is a failure.
bool parse_ok_note(Cursor& cursor, Probe& out) {
  if (cursor.sees('(')) return parse_values(cursor, out.not_failures);
  out.has_success = false;
  return true;
}

bool parse_success_note(Cursor& cursor, const Token& at, Probe& out) {
  std::vector<std::int64_t> values;
  if (!parse_values(cursor, values)) return false;
  if (values.size() != 1) return cursor.complain(at, "expected one value that means success; @ok(...) names more");
  out.success = values.front();
  return out.has_success = true;
}

constexpr std::string_view kFunctionNotes = "a kind, entry_only, hot, memory(...), ok(...), success(...) or work_items";

bool parse_function_note(Cursor& cursor, Probe& out) {
  const auto word = cursor.expect_word(kFunctionNotes);
  if (!word) return false;
  if (word->text == "hot") return out.hot = true;
  if (word->text == "entry_only") return out.entry_only = true;
  if (word->text == "work_items") return out.grid_in_work_items = true;
  if (word->text == "ok") return parse_ok_note(cursor, out);
  if (word->text == "success") return parse_success_note(cursor, *word, out);
  if (word->text == "memory") return parse_memory_note(cursor, *word, out);
  if (const auto kind = kind_named(word->text)) {
    out.kind = *kind;
    return true;
  }
  auto known = kind_words();
  known.insert(known.end(), {"entry_only", "hot", "memory", "ok", "success", "work_items"});
  return complain_near(cursor, *word, kFunctionNotes, std::move(known));
}

bool parse_result(Cursor& cursor, const Types& types, Probe& out) {
  const auto written = parse_written_type(cursor, "the result type of a function");
  if (!written) return false;
  const auto type = value_type(cursor, *written, types);
  if (!type) return false;
  out.result = *type;
  if (written->is_text()) out.result.cls = TypeClass::CString;
  const TypeDeclaration* declaration = written->stars ? nullptr : types.find(written->base);
  if (declaration && declaration->success) {
    out.success = *declaration->success;
    out.has_success = true;
  }
  return true;
}

constexpr std::size_t kMostNames = 64;

// NAME, or BEGIN{ONE,TWO}END for functions that share a prototype.
bool parse_names(Cursor& cursor, std::vector<std::string>& out) {
  const auto begin = cursor.expect_word("the name of the function");
  if (!begin) return false;
  out.emplace_back(begin->text);
  if (!cursor.sees('{')) return true;
  Cursor::Nested nested(cursor);
  out.clear();
  while (cursor.accept(out.empty() ? '{' : ',')) {
    const auto part = cursor.expect_word("a part of the function's name");
    if (!part) return false;
    if (out.size() >= kMostNames) return cursor.complain(*part, fmt::format("expected at most {} names", kMostNames));
    out.push_back(std::string(begin->text) + std::string(part->text));
  }
  if (!cursor.expect('}', "after the parts of the name")) return false;
  if (cursor.peek().kind != Token::Kind::Word) return true;
  const Token end = cursor.take();
  for (std::string& name : out) name += end.text;
  return true;
}

bool parse_whole(Cursor& cursor, const Section& section, const Types& types, Probe& out,
                 std::vector<std::string>& names) {
  const Token begin = cursor.peek();
  out.api = section.api;
  out.group = section.group;
  out.library = section.library;
  out.known_signature = !cursor.accept('?');
  if (out.known_signature && !parse_result(cursor, types, out)) return false;
  if (!parse_names(cursor, names)) return false;
  if (out.known_signature && !parse_parameters(cursor, types, out)) return false;
  while (cursor.accept('@'))
    if (!parse_function_note(cursor, out)) return false;
  if (!check_memory_note(cursor, begin, out)) return false;
  cursor.accept(';');
  if (!cursor.expect_line_end()) return false;
  if (out.api == "user" && out.library.empty())
    return cursor.complain(begin,
                           "expected library \"PATTERN\" or api hip above the first function, to say where it is");
  if (const auto placed = assign_locations(out, types); !placed)
    return cursor.complain(begin, fmt::format("{}: {}", placed.error().message, placed.error().cause));
  return true;
}

}  // namespace

bool parse_prototype(Cursor& cursor, const Section& section, const Types& types, std::vector<Probe>& out) {
  Probe probe;
  std::vector<std::string> names;
  if (!parse_whole(cursor, section, types, probe, names)) return false;
  for (std::string& name : names) {
    probe.symbol = std::move(name);
    out.push_back(probe);
  }
  return true;
}

}  // namespace fade::probes
