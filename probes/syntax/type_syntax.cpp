#include "probes/syntax/type_syntax.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/suggest.hpp"

namespace fade::probes {
namespace {

constexpr unsigned kMostStars = 8;
constexpr std::size_t kMostSuggestions = 20;  // more errors than that are not shown

bool is_any_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool is_qualifier(std::string_view word) {
  return is_any_of(word, {"volatile", "restrict", "__restrict", "__restrict__", "struct", "union", "enum"});
}
bool is_c_word(std::string_view word) {
  return is_any_of(word, {"unsigned", "signed", "long", "short", "int", "char", "double"});
}

// "long unsigned int" and similar forms, in the spelling of the table of basic types. Empty if C has no such type.
std::string canonical_base(const std::vector<std::string_view>& words) {
  const auto count = [&](std::string_view word) { return std::count(words.begin(), words.end(), word); };
  const auto longs = count("long"), is_short = count("short");
  const bool other = count("char") || count("double");
  if (longs > 2 || is_short > 1 || (longs && is_short) || count("unsigned") + count("signed") > 1) return {};
  if (other && (longs || is_short || count("int") || words.size() > 2)) return {};
  if (count("double")) return words.size() == 1 ? "double" : "";
  const std::string sign = count("unsigned") ? "unsigned " : "";
  if (count("char")) return (count("signed") ? "signed " : sign) + "char";
  return sign + (longs == 2 ? "long long" : longs == 1 ? "long" : is_short ? "short" : "int");
}

struct Words {
  std::vector<std::string_view> c_words;
  std::string_view name;
  bool is_const = false;
};

// Everything before the first star. A second plain name belongs to the token after the type.
Words parse_words(Cursor& cursor) {
  Words out;
  while (cursor.peek().kind == Token::Kind::Word) {
    const std::string_view word = cursor.peek().text;
    if (word == "const") {
      out.is_const = true;
    } else if (is_c_word(word) && out.name.empty()) {
      out.c_words.push_back(word);
    } else if (!is_qualifier(word)) {
      if (!out.name.empty() || !out.c_words.empty()) break;
      out.name = word;
    }
    cursor.take();
  }
  return out;
}

}  // namespace

std::string WrittenType::text() const {
  std::string out = is_const ? "const " + base : base;
  if (stars) out += ' ' + std::string(stars, '*');
  return out;
}

WrittenType WrittenType::pointed_to() const {
  WrittenType out = *this;
  --out.stars;
  return out;
}

std::optional<WrittenType> parse_written_type(Cursor& cursor, std::string_view what) {
  const Token begin = cursor.peek();
  const Words words = parse_words(cursor);
  WrittenType out{.at = begin, .base = std::string(words.name), .is_const = words.is_const};
  if (!words.c_words.empty()) out.base = canonical_base(words.c_words);
  if (words.name.empty() && words.c_words.empty()) {
    cursor.expected(what);
    return std::nullopt;
  }
  if (out.base.empty()) {
    cursor.complain(begin, "expected a type that C has, without long double");
    return std::nullopt;
  }
  while (cursor.sees('*') || cursor.sees('&') || cursor.sees_word("const") || cursor.sees_word("restrict") ||
         cursor.sees_word("__restrict")) {
    if (cursor.take().kind == Token::Kind::Mark && ++out.stars > kMostStars) {
      cursor.complain(begin, fmt::format("expected at most {} stars", kMostStars));
      return std::nullopt;
    }
  }
  return out;
}

const TypeDeclaration* resolve(Cursor& cursor, const WrittenType& type, const Types& types) {
  if (const TypeDeclaration* found = types.find(type.base)) return found;
  const std::string near = cursor.error_count() < kMostSuggestions ? nearest(type.base, types.names()) : "";
  cursor.complain(type.at, fmt::format("expected a declared type, found '{}'{}", type.base,
                                       near.empty() ? "; declare it with enum, flags, handle, struct or typedef"
                                                    : "; did you mean '" + near + "'?"));
  return nullptr;
}

std::optional<Type> value_type(Cursor& cursor, const WrittenType& type, const Types& types) {
  if (type.stars > 0) return type.as_pointer();
  const TypeDeclaration* declaration = resolve(cursor, type, types);
  if (!declaration) return std::nullopt;
  return declaration->type;
}

}  // namespace fade::probes
