#include "stack/python_code.hpp"

#include "stack/python_bytes.hpp"
#include "stack/python_text.hpp"

namespace fade {
namespace {

constexpr std::size_t kMaxCodes = 16384, kMaxPlaces = 65536;
constexpr std::size_t kMaxName = 512, kMaxFile = 4096;  // code points; a path of PATH_MAX bytes has no more
constexpr std::size_t kMaxLineTable = 1 << 20;
constexpr std::uint64_t kSettledAfter = 1000, kLookAgainAfter = 1000;  // milliseconds
constexpr std::uint32_t kSettledLooks = 4;
constexpr std::size_t kMaxCodeSize = 512;
constexpr std::size_t kMaxUnsure = 12;

}  // namespace

void PythonCode::begin(std::uint64_t epoch) {
  epoch_ = epoch;
  ++stack_;
  unsure_.clear();
}

std::optional<PythonCode::Identity> PythonCode::identity(std::uint64_t code, const Memory& memory) const {
  std::array<std::byte, kMaxCodeSize> buffer;
  const std::size_t size = layout_.code_size();
  if (code == 0 || size > buffer.size() || !memory.read_exactly({code}, std::span(buffer).first(size)))
    return std::nullopt;
  const auto word = [&](std::uint32_t offset) { return bytes_at<std::uint64_t>(buffer, offset); };
  return Identity{.file = word(layout_.file),
                  .name = word(layout_.name),
                  .qualified_name = word(layout_.qualified_name),
                  .line_table = word(layout_.line_table),
                  .first_line = bytes_at<std::int32_t>(buffer, layout_.first_line)};
}

PythonCode::Known PythonCode::read(const Identity& identity, const Memory& memory) const {
  Known out{.identity = identity,
            .epoch = epoch_,
            .since = epoch_,
            .looks = 1,
            .stack = stack_,
            .evidence = 0,
            .function = {},
            .file = {},
            .internal = false,
            .places = {}};
  auto function = python_text(memory, {identity.qualified_name}, layout_, kMaxName);
  if (!function) function = python_text(memory, {identity.name}, layout_, kMaxName);
  out.function = function.value_or("?");
  out.file = python_text(memory, {identity.file}, layout_, kMaxFile).value_or("");
  out.internal = identity.file == identity.name && out.file == "__init__";
  return out;
}

bool PythonCode::is_settled(const Known& known) const {
  return epoch_ - known.since >= kSettledAfter && known.looks >= kSettledLooks;
}

bool PythonCode::is_sure(const Known& known) const {
  if (known.stack == stack_) return true;
  if (has_generation()) return known.epoch == epoch_;
  return epoch_ - known.epoch < kLookAgainAfter && is_settled(known);
}

PythonCode::Known* PythonCode::known(std::uint64_t code, const Memory& memory) {
  const auto found = codes_.find(code);
  if (found != codes_.end() && is_sure(found->second)) return &found->second;
  const auto now = identity(code, memory);
  if (!now) return nullptr;
  if (found != codes_.end() && found->second.identity == *now) {
    found->second.epoch = epoch_;
    found->second.stack = stack_;
    ++found->second.looks;
    return looked_at(code, found->second);
  }
  make_room();
  auto& entry = codes_[code];
  places_ -= entry.places.size();
  entry = read(*now, memory);
  return looked_at(code, entry);
}

PythonCode::Known* PythonCode::looked_at(std::uint64_t code, Known& known) {
  if (!has_generation() && !is_settled(known) && unsure_.size() < kMaxUnsure)
    unsure_.push_back({{code}, {code + layout_.code_size()}});
  return &known;
}

PythonCode::Known* PythonCode::known(std::uint64_t code, const Memory& memory, StackEvidence* evidence) {
  Known* entry = known(code, memory);
  if (!evidence) return entry;
  if (!entry) evidence->give_up();
  else if (std::exchange(entry->evidence, stack_) != stack_) rest_on(code, *entry, *evidence);
  return entry;
}

// Adds the evidence for `code`: the time until which it may be used without a look, or the compared words. With a
// generation nothing is added: the caller that knows its address adds the generation.
void PythonCode::rest_on(std::uint64_t code, const Known& known, StackEvidence& evidence) const {
  if (has_generation()) return;
  if (is_settled(known)) return evidence.until(known.epoch + kLookAgainAfter);
  const Identity& its = known.identity;
  for (const auto& [offset, value] :
       {std::pair(layout_.file, its.file), std::pair(layout_.name, its.name),
        std::pair(layout_.qualified_name, its.qualified_name), std::pair(layout_.line_table, its.line_table)})
    evidence.word({code + offset}, value);
  evidence.word({code + layout_.first_line}, static_cast<std::uint32_t>(its.first_line), 4);
  evidence.until(std::max(known.since + kSettledAfter, epoch_ + 1));
}

void PythonCode::make_room() {
  if (codes_.size() < kMaxCodes && places_ < kMaxPlaces) return;
  codes_.clear();
  places_ = 0;
}

const PythonStacks::Place& PythonCode::place(std::uint64_t code, std::int32_t instruction, const Memory& memory,
                                             StackEvidence* evidence) {
  Known* entry = known(code, memory, evidence);
  if (!entry) return unreadable_;
  if (const auto found = entry->places.find(instruction); found != entry->places.end()) return found->second;
  if (places_ >= kMaxPlaces) {
    make_room();
    entry = known(code, memory);
    if (!entry) return unreadable_;
  }
  const auto table = python_bytes(memory, {entry->identity.line_table}, layout_, kMaxLineTable);
  const int line = python_line(table, entry->identity.first_line, instruction, layout_.lines);
  ++places_;
  return entry->places
      .emplace(instruction,
               PythonStacks::Place{.id = ++last_id_, .function = entry->function, .file = entry->file, .line = line})
      .first->second;
}

bool PythonCode::is_internal(std::uint64_t code, const Memory& memory, StackEvidence* evidence) {
  if (!interpreter_.contains({code})) return false;
  const Known* entry = known(code, memory, evidence);
  return entry && entry->internal;
}

}  // namespace fade
