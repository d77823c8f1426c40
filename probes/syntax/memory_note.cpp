#include "probes/syntax/memory_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/suggest.hpp"
#include "probes/vocabulary.hpp"

namespace fade::probes {
namespace {

// Without these an act has no value to work on.
constexpr MemoryAct kWithAddress[] = {MemoryAct::Allocate, MemoryAct::Free,   MemoryAct::Map,  MemoryAct::Unmap,
                                      MemoryAct::Retain,   MemoryAct::Export, MemoryAct::Open, MemoryAct::Measure};
constexpr MemoryAct kWithSpace[] = {MemoryAct::Allocate, MemoryAct::Free, MemoryAct::Open};
// The ledger looks at calls of these kinds.
constexpr Kind kLedgerKinds[] = {Kind::Other,    Kind::Alloc, Kind::HostAlloc,  Kind::Free,
                                 Kind::HostFree, Kind::Error, Kind::DeviceQuery};

template <class T, std::size_t N>
bool is_in(const T (&all)[N], T one) {
  return std::find(std::begin(all), std::end(all), one) != std::end(all);
}

std::string comma_list(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

// A word of a table, or a complaint with all words of the table and the nearest one.
template <class T>
bool parse_one(Cursor& cursor, std::string_view expected, std::optional<T> (*named)(std::string_view),
               const std::vector<std::string>& known, T& out) {
  const auto word = cursor.expect_word(expected);
  if (!word) return false;
  if (const auto meaning = named(word->text)) {
    out = *meaning;
    return true;
  }
  const std::string near = nearest(word->text, known);
  return cursor.complain(*word, fmt::format("expected {} ({}), found '{}'{}", expected, comma_list(known), word->text,
                                            near.empty() ? "" : "; did you mean '" + near + "'?"));
}

// The kind of memory that an allocation gives. Memory that other processes have made is imported.
bool parse_kind(Cursor& cursor, MemoryAction& action) {
  if (action.act == MemoryAct::Open) action.kind = MemoryKind::Imported;
  if (action.act != MemoryAct::Allocate) return true;
  if (!cursor.expect(',', "and a kind of memory after allocate")) return false;
  if (!parse_one(cursor, "a kind of memory", memory_kind_named, memory_kind_words(), action.kind)) return false;
  action.space = usual_space(action.kind);
  return true;
}

bool parse_space(Cursor& cursor, MemoryAction& action) {
  if (!is_in(kWithSpace, action.act) || !cursor.accept(',')) return true;
  return parse_one(cursor, "the sort of value that names the memory", memory_space_named, memory_space_words(),
                   action.space);
}

// A structure may have the address in a field.
bool may_have_address(const Probe& probe) {
  return std::ranges::any_of(probe.parameters, [](const Parameter& p) {
    return p.role == Role::Address || p.type.cls == TypeClass::Struct || p.pointee.cls == TypeClass::Struct;
  });
}

}  // namespace

bool parse_memory_note(Cursor& cursor, const Token& at, Probe& out) {
  if (out.memory.act != MemoryAct::None) return cursor.complain(at, "expected one @memory note for a function");
  if (!cursor.expect('(', "and the effect on memory")) return false;
  MemoryAction action;
  if (!parse_one(cursor, "an effect on memory", memory_act_named, memory_act_words(), action.act)) return false;
  if (!parse_kind(cursor, action) || !parse_space(cursor, action)) return false;
  if (!cursor.expect(')', "after the effect on memory")) return false;
  if (is_in(kWithAddress, action.act) && !may_have_address(out))
    return cursor.complain(at, "expected a parameter with @address: @memory needs the value that names the memory");
  out.memory = action;
  return true;
}

bool check_memory_note(Cursor& cursor, const Token& at, const Probe& probe) {
  const bool is_node = probe.memory.act == MemoryAct::Node;
  if (probe.memory.act == MemoryAct::None || (is_node ? probe.kind == Kind::Graph : is_in(kLedgerKinds, probe.kind)))
    return true;
  if (is_node) return cursor.complain(at, "expected @graph beside @memory(node)");
  return cursor.complain(
      at, fmt::format("expected no @memory beside @{}: such calls are counted in other tables", word_for(probe.kind)));
}

}  // namespace fade::probes
