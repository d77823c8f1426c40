#include "session/corrector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/glob.hpp"
#include "probes/overrides/copies.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostDevices = 64;   // of one program, with their addresses
constexpr std::size_t kMostExcluded = 16;  // sentences about libraries that rules leave out
constexpr std::size_t kMostArguments = 16;
constexpr std::size_t kMostAnswers = 32;  // of one program, kept whole

// The bytes that a call wrote for its caller, as far as rules look at them.
class WrittenMemory {
 public:
  WrittenMemory(std::span<const probes::Written> wanted, const probes::DeviceCall& call, const Memory& memory) {
    contents_.reserve(wanted.size());  // found_ points into it
    for (const probes::Written& part : wanted) {
      if (part.bytes == 0) continue;
      auto& bytes = contents_.emplace_back(std::min<std::size_t>(part.bytes, kMostPointed));
      bytes.resize(memory.read({call.arguments[part.parameter]}, bytes));
      found_.push_back({part.parameter, bytes});
    }
  }
  std::span<const probes::Found> found() const { return found_; }
  void overwrite(const probes::Patch& patch) {
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (found_[i].parameter == patch.parameter && patch.offset + patch.bytes.size() <= contents_[i].size())
        std::ranges::copy(patch.bytes, contents_[i].begin() + patch.offset);
  }

 private:
  std::vector<std::vector<std::byte>> contents_;
  std::vector<probes::Found> found_;
};

}  // namespace

void Corrector::correct(Thread& thread, const Entry& entry, OpenCall& call) {
  if (!entry.needs.rule) return;
  const probes::Probe& probe = *entry.probe;
  std::array<std::uint64_t, kMostArguments> values{};
  const std::size_t n = std::min(values.size(), probe.parameters.size());
  for (std::size_t i = 0; i < n; ++i) values[i] = argument(probe, probe.parameters[i], call);
  const std::string caller(base_name(thread.inferior->program->call_sites[call.return_address].library));
  probes::DeviceCall asked{probe.symbol, std::span(values).first(n), thread.device, caller};
  if (keeps_answers_) keep_answer(thread, asked);
  if (overrides_.need_slots()) place(thread, asked);
  overrides_.applies(asked) ? patch(thread, asked, call) : note_excluded(asked);
}

void Corrector::patch(Thread& thread, const probes::DeviceCall& asked, OpenCall& call) {
  WrittenMemory written(overrides_.reads(asked.symbol, asked.arguments), asked, thread.memory());
  for (probes::Patch& patch : overrides_.patches(asked, written.found()))
    if (apply(thread, asked, patch, call)) written.overwrite(patch);
  if (!(call.record.flags & kOverridden)) return;
  for (const auto& [parameter, bytes] : written.found())
    append_piece(call.payload, {.kind = PieceKind::Became, .param = parameter}, bytes);
}

// A patch without bytes is an answer that is right already.
bool Corrector::apply(const Thread& thread, const probes::DeviceCall& asked, probes::Patch& patch, OpenCall& call) {
  const RemoteAddr at{asked.arguments[patch.parameter] + patch.offset};
  const ProcessMemory& memory = thread.memory();
  if (!patch.bytes.empty() && !memory.write(at, patch.bytes, thread.tid)) return false;
  call.record.flags |= kOverridden;
  sink_.notice(OverrideHit{patch.rule, call.record.id, thread.id, call.record.caller, clock_.now(), patch.device,
                           patch.field, std::move(patch.was), std::move(patch.became)});
  return true;
}

// The answer as the runtime gave it.
void Corrector::keep_answer(const Thread& thread, const probes::DeviceCall& call) const {
  const probes::CopyForm* const form = probes::copy_form_of(call.symbol);
  Program& program = *thread.inferior->program;
  if (!form || call.arguments.empty() || program.answers.size() >= kMostAnswers) return;
  KnownAnswer answer{form, probes::Overrides::device_of(call), std::vector<std::byte>(form->size)};
  if (!thread.memory().read_exactly({call.arguments[0]}, answer.bytes)) return;
  const auto is_it = [&](const KnownAnswer& one) {
    return one.form == form && one.device == answer.device && one.bytes == answer.bytes;
  };
  if (std::ranges::any_of(program.answers, is_it)) return;
  program.answers.push_back(std::move(answer));
  program.has_new_answers = true;
}

// Finds the PCI address of the call's device: in the answer itself, or in an earlier one.
void Corrector::place(Thread& thread, probes::DeviceCall& call) {
  Program& program = *thread.inferior->program;
  const auto wanted = overrides_.reads(call.symbol, call.arguments);
  const WrittenMemory written{std::span(wanted).first(1), call, thread.memory()};
  const std::array<probes::Found, 1> nothing{};
  const std::span<const probes::Found> found = written.found().empty() ? nothing : written.found();
  if (const auto told = probes::Overrides::slot_told(call, found); told && program.device_slots.size() < kMostDevices)
    program.device_slots[told->first] = told->second;
  const auto known = program.device_slots.find(probes::Overrides::device_of(call));
  if (known != program.device_slots.end()) call.slot = known->second;
  note_unplaced(thread, call);
  note_left_alone(thread, call);
}

void Corrector::note_unplaced(Thread& thread, const probes::DeviceCall& call) {
  const probes::Rule* const rule = overrides_.unplaced(call);
  if (!rule || std::exchange(thread.inferior->program->has_reported_unplaced, true)) return;
  note(thread, fmt::format("{} was not applied to an answer of {}: nothing had told the device's PCI address yet",
                           rule->target, call.symbol));
}

void Corrector::note_left_alone(Thread& thread, const probes::DeviceCall& call) {
  const int device = probes::Overrides::device_of(call);
  const probes::Rule* const rule = overrides_.elsewhere(call);
  auto& known = thread.inferior->program->devices_left_alone;
  if (!rule || known.size() >= kMostDevices || !known.insert(device).second) return;
  const std::string where = call.slot ? "at " + call.slot->text() : "whose PCI address was not told";
  const auto [sentence, is_new] = left_alone_.insert(
      fmt::format("{} was not applied to device {} {}: the GPU driver has no such GPU", rule->spec, device, where));
  note(thread, *sentence);
}

void Corrector::note_excluded(const probes::DeviceCall& call) {
  if (excluded_.size() >= kMostExcluded) return;
  if (const probes::Rule* rule = overrides_.for_other_callers(call))
    excluded_.insert(fmt::format("{} asked {}, and {} leaves it out",
                                 call.caller.empty() ? "code of no library" : call.caller, call.symbol, rule->spec));
}

void Corrector::note(const Thread& thread, std::string sentence) {
  sink_.notice(Lifecycle{clock_.now(), thread.inferior->id, thread.id, "note", 0, std::move(sentence)});
}

}  // namespace fade
