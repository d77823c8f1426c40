#include "probes/overrides/patch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "probes/overrides/value.hpp"
#include "probes/values.hpp"

namespace fade::probes {
namespace {

using Answer = DevicePath::Answer;
using AnswerBytes = std::vector<std::byte>;

template <class T>
AnswerBytes bytes_of(T value) {
  AnswerBytes out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

// One call. `now_` follows the patches, so that several patches may share a word or a text.
class Patching {
 public:
  Patching(const DevicePath& path, Arguments arguments, std::span<const Assignment* const> active,
           std::span<const Found> found)
      : path_(path), arguments_(arguments), active_(active) {
    for (const Found& f : found) {
      if (f.parameter < now_.size()) now_[f.parameter].assign(f.bytes.begin(), f.bytes.end());
    }
  }

  std::vector<Patch> run() {
    switch (path_.answer) {
      case Answer::Attribute:
      case Answer::CudaAttribute: attribute(); break;
      case Answer::Name: name(); break;
      case Answer::PciAddress: pci_address(); break;
      case Answer::MemoryInfo: memory_info(); break;
      case Answer::StructR0000:
      case Answer::StructR0600:
      case Answer::StructCuda:
      case Answer::Values: elements(); break;
    }
    return std::move(patches_);
  }

 private:
  using Shown = std::function<std::string(const AnswerBytes&)>;  // from all bytes at the parameter

  void put(RuleId rule, AnswerPlace place, std::span<const std::byte> value, std::string field, const Shown& shown) {
    AnswerBytes& now = now_[place.parameter];
    if (place.offset + value.size() > now.size()) return;
    Patch patch{rule, -1, place.parameter, place.offset, {}, std::move(field), shown(now), {}};
    const auto target = now.begin() + place.offset;
    if (!std::equal(value.begin(), value.end(), target)) {
      std::copy(value.begin(), value.end(), target);
      patch.bytes.assign(value.begin(), value.end());
    }
    patch.became = shown(now);
    patches_.push_back(std::move(patch));
  }

  bool wins(std::size_t i, std::uint32_t element) const {
    const Fact* fact = active_[i]->target.fact;
    return std::none_of(active_.begin() + i + 1, active_.end(),
                        [&](const Assignment* later) { return later->target.covers(fact, element); });
  }

  const Assignment* last_for(std::string_view fact) const {
    const auto found = std::find_if(active_.rbegin(), active_.rend(), [&](const Assignment* a) {
      return a->target.fact != nullptr && a->target.fact->name == fact;
    });
    return found == active_.rend() ? nullptr : *found;
  }

  // ---- facts that are stored unchanged
  void elements() {
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const Target& target = active_[i]->target;
      const std::uint32_t won = won_by(i);
      if (target.fact->type == FieldType::Bits) {
        bits(i);
      } else if (won == target.fact->count) {
        whole(*active_[i]);
      } else {
        for (std::uint32_t e = 0; won > 0 && e < target.count; ++e) {
          if (wins(i, target.first + e)) single(*active_[i], e);
        }
      }
    }
  }

  std::uint32_t won_by(std::size_t i) const {
    const Target& target = active_[i]->target;
    std::uint32_t won = 0;
    for (std::uint32_t e = 0; e < target.count; ++e) won += wins(i, target.first + e) ? 1 : 0;
    return won;
  }

  void whole(const Assignment& assignment) {
    const Fact& fact = *assignment.target.fact;
    const auto place = place_of(path_, fact, 0);
    if (!place) return;
    const bool is_short = place->bytes == sizeof(std::uint32_t);  // CUDA's old functions give an unsigned int
    const AnswerBytes value =
        is_short ? bytes_of(as_unsigned(load_word(assignment.bytes))) : limited(fact, assignment.bytes);
    put(assignment.rule, *place, value, std::string(fact.name), [&](const AnswerBytes& now) {
      return text_of(is_short ? FieldType::Unsigned : fact.type, fact.count,
                     std::span(now).subspan(place->offset, value.size()));
    });
  }

  void single(const Assignment& assignment, std::uint32_t index) {
    const Fact& fact = *assignment.target.fact;
    const std::uint32_t element = assignment.target.first + index;
    const auto place = place_of(path_, fact, element);
    if (!place) return;
    const auto value = std::span(assignment.bytes).subspan(index * fact.element_size, fact.element_size);
    put(assignment.rule, *place, value, element_name(fact, element), [&](const AnswerBytes& now) {
      return text_of(fact.type, 1, std::span(now).subspan(place->offset, value.size()));
    });
  }

  // Bits share a word, so all bits of one rule are one change of the word.
  void bits(std::size_t i) {
    const Assignment& assignment = *active_[i];
    const Target& target = assignment.target;
    const auto place = place_of(path_, *target.fact, 0);
    if (!place || place->offset + sizeof(std::uint32_t) > now_[place->parameter].size()) return;
    const auto read = [&](const AnswerBytes& all) {
      return static_cast<std::uint32_t>(load_word(std::span(all).subspan(place->offset)));
    };
    std::uint32_t mask = 0, value = 0;
    for (std::uint32_t e = 0; e < target.count; ++e) {
      if (!wins(i, target.first + e)) continue;
      mask |= std::uint32_t{1} << (target.first + e);
      value |= std::to_integer<std::uint32_t>(assignment.bytes[e]) << (target.first + e);
    }
    if (mask == 0) return;
    const std::uint32_t told = (read(now_[place->parameter]) & ~mask) | value;
    put(assignment.rule, *place, bytes_of(told), target_name(target), [&](const AnswerBytes& all) {
      if (target.count == 1) return std::string((read(all) & mask) ? "1" : "0");
      return text_of(FieldType::Bits, 1, bytes_of(read(all)));
    });
  }

  // ---- hipMemGetInfo: free memory is at most the total
  std::uint64_t total_told() const {
    if (const Assignment* total = last_for("totalGlobalMem")) return load_word(total->bytes);
    return now_[1].size() >= 8 ? load_word(now_[1]) : std::numeric_limits<std::uint64_t>::max();
  }

  AnswerBytes limited(const Fact& fact, const AnswerBytes& value) const {
    if (path_.answer != Answer::MemoryInfo || fact.name != "memory.free") return value;
    return bytes_of(std::min(load_word(value), total_told()));
  }

  void memory_info() {
    const bool both = now_[0].size() >= 8 && now_[1].size() >= 8;
    const std::uint64_t free = both ? load_word(now_[0]) : 0, total = both ? load_word(now_[1]) : 0;
    elements();
    free_of_total(both && total > free ? std::optional(total - free) : std::nullopt);
  }

  // Memory in use stays in use. If the use is unknown, free memory is cut at the new total.
  void free_of_total(std::optional<std::uint64_t> in_use) {
    const Assignment* total = last_for("totalGlobalMem");
    if (total == nullptr || last_for("memory.free") != nullptr || now_[0].size() < 8) return;
    const std::uint64_t all = total_told(),
                        free = in_use ? all - std::min(all, *in_use) : std::min(all, load_word(now_[0]));
    if (load_word(now_[0]) == free) return;
    put(total->rule, {0, 0}, bytes_of(free), "memory.free",
        [](const AnswerBytes& now) { return text_of(FieldType::Size, 1, std::span(now).first(8)); });
  }

  // ---- hipDeviceGetAttribute and CUDA's: every active assignment means the one answer, so the last counts
  void attribute() {
    const Assignment& last = *active_.back();
    const Fact* fact = last.target.fact;
    const DeviceAttribute* known = asked_attribute(path_, arguments_);
    const bool pointer = known != nullptr && known->form == DeviceAttribute::Form::Pointer;
    const AnswerBytes told = fact == nullptr ? last.bytes : mirrored(last, known->element);
    const std::string field = fact == nullptr ? target_name(last.target) : element_name(*fact, known->element);
    put(last.rule, {0, 0}, told, field, [&](const AnswerBytes& now) {
      return text_of(pointer ? FieldType::Pointer : FieldType::Int, 1, std::span(now).first(told.size()));
    });
  }

  static AnswerBytes mirrored(const Assignment& assignment, std::uint32_t element) {
    const Fact& fact = *assignment.target.fact;
    const std::size_t skipped = std::size_t{element - assignment.target.first} * fact.element_size;
    const auto value = std::span(assignment.bytes).subspan(skipped, fact.element_size);
    if (fact.type == FieldType::Size) return bytes_of(as_int(load_word(value)));
    return {value.begin(), value.end()};
  }

  static std::uint32_t as_unsigned(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
  }

  // Converts a size_t to the attribute's int as AMD's runtime does.
  static std::int32_t as_int(std::uint64_t value) {
    return static_cast<std::int32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::int32_t>::max()));
  }

  // ---- texts within the caller's length: cut, and closed by a NUL, as the runtime does
  void put_text(RuleId rule, std::string_view text, std::string field) {
    const std::int32_t room = int_argument(arguments_, path_.length, 0);
    if (room <= 0) return;
    text = text.substr(0, static_cast<std::size_t>(room) - 1);
    AnswerBytes value(text.size() + 1);
    std::memcpy(value.data(), text.data(), text.size());
    put(rule, {0, 0}, value, std::move(field), [](const AnswerBytes& now) { return text_of(FieldType::Text, 1, now); });
  }

  void name() {
    const Assignment& last = *active_.back();
    const auto* text = reinterpret_cast<const char*>(last.bytes.data());
    put_text(last.rule, {text, ::strnlen(text, last.bytes.size())}, std::string(last.target.fact->name));
  }

  void pci_address() {
    if (now_[0].empty()) return;
    const auto* standing = reinterpret_cast<const char*>(now_[0].data());
    const auto address = parse_pci_address({standing, ::strnlen(standing, now_[0].size())});
    if (!address) return;  // the runtime writes another form: leave it
    PciAddress told = *address;
    const std::pair<std::string_view, std::int32_t*> parts[] = {{"pciDomainID", &told.domain},
                                                                {"pciBusID", &told.bus},
                                                                {"pciDeviceID", &told.device},
                                                                {"pciFunction", &told.function}};
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (!wins(i, 0)) continue;
      for (const auto& [fact, value] : parts) {
        if (active_[i]->target.fact->name == fact) *value = static_cast<std::int32_t>(load_word(active_[i]->bytes));
      }
      if (!same_rule_follows(i)) put_text(active_[i]->rule, told.text(), "pciBusId");
    }
  }

  // One rule may set all four parts, as one change of the text.
  bool same_rule_follows(std::size_t i) const {
    for (std::size_t j = i + 1; j < active_.size() && active_[j]->rule == active_[i]->rule; ++j) {
      if (wins(j, 0)) return true;
    }
    return false;
  }

  const DevicePath& path_;
  Arguments arguments_;
  std::span<const Assignment* const> active_;
  std::array<AnswerBytes, 2> now_;
  std::vector<Patch> patches_;
};

}  // namespace

std::vector<Patch> patches_of(const DevicePath& path, Arguments arguments, std::span<const Assignment* const> active,
                              std::span<const Found> found) {
  if (active.empty()) return {};
  return Patching(path, arguments, active, found).run();
}

std::string target_name(const Target& target) {
  if (target.fact == nullptr) {
    const DeviceAttribute* known = attribute_numbered(target.attribute);
    return known != nullptr ? fmt::format("attribute.{}", known->name) : fmt::format("attribute.{}", target.attribute);
  }
  if (target.count == target.fact->count) return std::string(target.fact->name);
  return element_name(*target.fact, target.first);
}

}  // namespace fade::probes
