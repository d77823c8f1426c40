#include "session/injector.hpp"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/glob.hpp"
#include "base/human.hpp"
#include "base/rank.hpp"
#include "probes/arguments.hpp"
#include "probes/injections/aim.hpp"
#include "probes/injections/numbers.hpp"
#include "ptrace/tracee.hpp"
#include "session/argument_reader.hpp"
#include "session/process_facts.hpp"

namespace fade {
namespace {

using Act = probes::Effect::Kind;

constexpr std::size_t kMostKernels = 1'000'000;  // of one program
constexpr std::size_t kMostLater = 64;           // calls of one thread that are changed at their return

std::string name_of(const probes::Probe& probe, std::int64_t result) {
  return probes::shown_value(probe.result, static_cast<std::uint64_t>(result), probes::types_of(probe));
}

// Failed questions for errors are no errors themselves.
bool leaves_last_error(const probes::Probe& probe) { return probe.api == "hip" && probe.kind != probes::Kind::Error; }

bool is_part_of_preset(const probes::Effect& effect) {
  return effect.kind == Act::Allocate || effect.kind == Act::Release || effect.kind == Act::Count;
}

bool is_at_return(const probes::Effect& effect) {
  const bool is_result = effect.replacement && effect.replacement->place.parameter == probes::ValuePlace::kResult;
  return is_result || (effect.kind != Act::Error && effect.kind != Act::Delay && effect.kind != Act::Replace);
}

// The word with `size` of its bytes at `offset` replaced.
std::uint64_t patched(std::uint64_t word, std::uint64_t value, std::size_t offset, std::size_t size) {
  std::memcpy(reinterpret_cast<std::byte*>(&word) + offset, &value, size);
  return word;
}

// The payload's piece of a kind of words, changed too.
void change_piece(PieceKind kind, std::size_t word, std::uint64_t value, OpenCall& call) {
  const auto piece = probes::find_piece(call.payload, kind);
  if (!piece || piece->bytes.size() < 8 * (word + 1)) return;
  std::byte* const at = call.payload.data() + (piece->bytes.data() - call.payload.data()) + 8 * word;
  std::memcpy(at, &value, sizeof value);
}

void write_stack(const Thread& thread, std::size_t word, std::uint64_t value, OpenCall& call) {
  const std::array<std::uint64_t, 1> words{value};
  thread.memory().write(call.sp + 8 * (1 + word), std::as_bytes(std::span(words)), thread.tid);
  change_piece(PieceKind::Stack, word, value, call);
}

void write_sse(const Thread& thread, std::size_t number, std::uint64_t value, std::size_t size, OpenCall& call) {
  const Tracee tracee(thread.tid);
  const auto before = tracee.sse_words();
  if (!before || number >= before->size() || !tracee.set_sse_word(number, value, size)) return;
  change_piece(PieceKind::Sse, number, patched((*before)[number], value, 0, size), call);
}

// One request, so that a thread never runs with half of them if fade dies.
void write_registers(const Thread& thread, const std::array<std::uint64_t, 6>& words) {
  const Tracee tracee(thread.tid);
  auto registers = tracee.registers();
  if (!registers) return;
  registers->rdi = words[0];
  registers->rsi = words[1];
  registers->rdx = words[2];
  registers->rcx = words[3];
  registers->r8 = words[4];
  registers->r9 = words[5];
  tracee.set_registers(*registers);
}

// Only where the program itself may write. ptrace writes to read-only pages, too.
void write_as_program(Tid tid, RemoteAddr to, std::span<const std::byte> bytes) {
  const iovec local{const_cast<std::byte*>(bytes.data()), bytes.size()};
  const iovec remote{reinterpret_cast<void*>(to.value), bytes.size()};
  (void)::process_vm_writev(tid.value(), &local, 1, &remote, 1, 0);
}

// HIP writes these also where it fails: an allocation gives a null pointer, the count of no devices is 0.
bool is_zeroed(const probes::Probe& probe) {
  return probe.kind == probes::Kind::Alloc || probe.kind == probes::Kind::HostAlloc ||
         probe.symbol == "hipGetDeviceCount" || probe.symbol == "cuDeviceGetCount";
}

}  // namespace

const std::string& Injector::rank_of(Inferior& inferior) const {
  if (!inferior.rank && rules_.needs_rank())
    inferior.rank = fade::rank_of(read_process_facts(inferior.pid).environment);
  static const std::string kNone;
  return inferior.rank ? *inferior.rank : kNone;
}

Injector::Order Injector::at_entry(Thread& thread, const Entry& entry, OpenCall& call) {
  Inferior& inferior = *thread.inferior;
  const auto& sites = inferior.program->call_sites;
  const auto site = sites.find(call.return_address);
  const probes::CallAtEntry asked{
      .probe = *entry.probe,
      .record = call.record,
      .payload = call.payload,
      .device = thread.device,
      .caller = site == sites.end() ? std::string_view() : base_name(site->second.library),
      .thread_name = thread.name,
      .tid = thread.tid,
      .rank = rank_of(inferior),
      .kernel = rules_.needs_kernels() ? kernel_of(thread, entry, call) : std::string_view(),
      .now = call.record.entry_ns};
  Order out;
  std::vector<Effect> later;
  for (const Effect& effect : rules_.decide(asked, inferior.injections, &seen_)) {
    if (is_at_return(effect)) {
      later.push_back(effect);
    } else if (effect.kind == Act::Delay) {
      out.delay_ns += effect.value;
      hit(thread, entry, call, effect.rule, "delay", {}, human_duration(effect.value, false));
    } else if (effect.kind == Act::Error) {
      out.error = effect.value;
      fail(thread, entry, effect, call);
    } else {
      replace(thread, entry, effect, call);
    }
  }
  if (out.error || later.empty()) return out;
  auto& waiting = thread.injected_returns;
  std::erase_if(waiting, [&](const InjectedReturn& one) { return one.sp <= call.sp; });  // these have been left
  if (waiting.size() < kMostLater) waiting.push_back({call.sp, call.entry, std::move(later)});
  return out;
}

void Injector::fail(Thread& thread, const Entry& entry, const Effect& effect, const OpenCall& call) {
  hit(thread, entry, call, effect.rule, effect.is_sticky ? "sticky error" : "error", {},
      name_of(*entry.probe, effect.value));
  if (leaves_last_error(*entry.probe)) thread.injected_error = {effect.rule, effect.value};
}

std::string Injector::dry_or_not(const std::string& action) const { return is_dry_ ? "dry run: " + action : action; }

void Injector::replace(Thread& thread, const Entry& entry, const Effect& effect, OpenCall& call) {
  const probes::Replacement& to = *effect.replacement;
  const auto was = probes::value_at(*entry.probe, to.place, call.record, call.payload);
  if (!was) return;
  const auto& types = probes::types_of(*entry.probe);
  hit(thread, entry, call, effect.rule, dry_or_not(to.name), probes::shown_value(to.place.type, *was, types), to.text);
  if (is_dry_) return;
  call.record.flags |= kReplaced;
  const probes::Location& at = entry.probe->parameters[to.place.parameter].at;
  const std::size_t offset = to.place.part < 0 ? 0 : 4 * static_cast<std::size_t>(to.place.part);
  const std::size_t word = at.first + offset / 8;
  const std::size_t size = to.place.type.size;
  if (at.where == probes::Location::Where::Sse) return write_sse(thread, at.first, to.value, size, call);
  if (at.where == probes::Location::Where::Integer && word < call.record.words.size()) {
    call.record.words[word] = patched(call.record.words[word], to.value, offset % 8, size);
    return write_registers(thread, call.record.words);
  }
  std::uint64_t old = 0;
  thread.memory().read(call.sp + 8 * (1 + word), std::as_writable_bytes(std::span(&old, 1)));
  write_stack(thread, word, patched(old, to.value, offset % 8, size), call);
}

void Injector::write_outputs(const Thread& thread, const Entry& entry, const OpenCall& call) {
  if (!is_zeroed(*entry.probe)) return;
  for (const probes::Parameter& parameter : entry.probe->parameters) {
    if (parameter.direction != probes::Direction::Out || parameter.count != 1 || parameter.length_param >= 0) continue;
    const RemoteAddr at{argument(*entry.probe, parameter, call)};
    const std::array<std::byte, 8> zero{};
    if (at && parameter.pointee.size <= zero.size())
      write_as_program(thread.tid, at, std::span(zero).first(parameter.pointee.size));
    return;  // the first output is the answer
  }
}

Injector::Answer Injector::at_return(Thread& thread, const Entry& entry, const OpenCall& call, std::uint64_t result) {
  Answer out;
  if (rules_.needs_kernels() && !entry.probe->failed(result)) learn_kernel(thread, entry, call);
  auto& waiting = thread.injected_returns;
  const auto found = std::ranges::find_if(
      waiting, [&](const InjectedReturn& one) { return one.sp == call.sp && one.entry == call.entry; });
  if (found != waiting.end()) {
    const std::vector<Effect> effects = std::move(found->effects);
    waiting.erase(found);
    for (const Effect& effect : effects) {
      if (is_part_of_preset(effect)) {
        if (!entry.probe->failed(result)) follow_preset(thread, entry, effect, call);
        continue;
      }
      const std::uint64_t was = out.result.value_or(result);
      if (effect.kind == Act::DelayExit) {
        out.delay_ns += effect.value;
        hit(thread, entry, call, effect.rule, "delay_exit", {}, human_duration(effect.value, false));
        continue;
      }
      const std::string action = effect.kind == Act::LateError ? "late error" : "result";
      const bool is_replaced = effect.kind == Act::Replace;
      hit(thread, entry, call, effect.rule, is_replaced ? dry_or_not(action) : action,
          name_of(*entry.probe, static_cast<std::int64_t>(was)), name_of(*entry.probe, effect.value));
      if (effect.kind == Act::Replace && is_dry_) continue;
      if (effect.kind == Act::LateError && leaves_last_error(*entry.probe))
        thread.injected_error = {effect.rule, effect.value};
      out.result = static_cast<std::uint64_t>(effect.value);
    }
  }
  if (rules_.tells_last_error(*entry.probe))
    if (const auto told = last_error(thread, entry, call, out.result.value_or(result))) out.result = told;
  return out;
}

// The name of the kernel behind a handle that the call has given.
void Injector::learn_kernel(const Thread& thread, const Entry& entry, const OpenCall& call) const {
  const probes::Probe& probe = *entry.probe;
  if (probe.kind != probes::Kind::GetFunction) return;
  const probes::Parameter* const out = probe.with_role(probes::Role::Kernel);
  const probes::Parameter* const name = probe.with_role(probes::Role::KernelName);
  const probes::Parameter* const object = probe.with_role(probes::Role::Address);
  auto& known = thread.inferior->program->named_kernels;
  const auto handle =
      out ? thread.memory().value<std::uint64_t>({argument(probe, *out, call)}) : std::optional<std::uint64_t>();
  if (!handle || known.size() >= kMostKernels) return;
  if (name) {
    if (auto text = probes::string_argument(probe, *name, call.record, call.payload)) known[*handle].name = *text;
  } else if (object) {
    const auto found = known.find(argument(probe, *object, call));
    if (found != known.end()) known[*handle] = KernelName(found->second);
  }
}

std::string_view Injector::kernel_of(const Thread& thread, const Entry& entry, const OpenCall& call) {
  const probes::Parameter* const kernel = entry.probe->with_role(probes::Role::Kernel);
  if (!kernel || entry.probe->kind != probes::Kind::Launch) return {};
  const auto& known = thread.inferior->program->named_kernels;
  const auto found = known.find(argument(*entry.probe, *kernel, call));
  return found == known.end() ? std::string_view() : std::string_view(found->second.name);
}

// Outputs of the call lie in the program's memory; they are not read yet.
void Injector::follow_preset(Thread& thread, const Entry& entry, const Effect& effect, const OpenCall& call) {
  probes::HeldMemory& memory = thread.inferior->injections.memory;
  const probes::Parameter* const parameter =
      entry.probe->with_role(effect.kind == Act::Count ? probes::Role::Count : probes::Role::Address);
  if (!parameter) return;
  const RemoteAddr at{argument(*entry.probe, *parameter, call)};
  if (effect.kind == Act::Release) return memory.release(at.value);
  if (effect.kind == Act::Allocate) {
    if (const auto address = thread.memory().value<std::uint64_t>(at))
      memory.allocate(thread.device, *address, static_cast<std::uint64_t>(effect.value));
    return;
  }
  const auto count = thread.memory().value<std::int32_t>(at);
  const auto most = static_cast<std::int32_t>(effect.value);
  if (!count || *count <= most) return;
  thread.memory().write(at, bytes_of(most), thread.tid);
  hit(thread, entry, call, effect.rule, parameter->name, std::to_string(*count), std::to_string(most));
}

// A failed call that the runtime has not seen left no last error there. The runtime's own error is the later one, or
// fade cannot know.
std::optional<std::uint64_t> Injector::last_error(Thread& thread, const Entry& entry, const OpenCall& call,
                                                  std::uint64_t result) {
  const probes::InjectionState& state = thread.inferior->injections;
  const bool is_sticky = state.sticky_rule != RuleId(0) && state.sticky_api == entry.probe->api;
  const InjectedError pending =
      is_sticky ? InjectedError{state.sticky_rule, state.sticky_error} : thread.injected_error;
  if (entry.probe->symbol != "hipPeekAtLastError") thread.injected_error = {};
  if (pending.rule == RuleId(0) || static_cast<std::uint32_t>(result) != 0) return std::nullopt;
  hit(thread, entry, call, pending.rule, "last error", name_of(*entry.probe, 0), name_of(*entry.probe, pending.error));
  return static_cast<std::uint64_t>(pending.error);
}

void Injector::hit(const Thread& thread, const Entry& entry, const OpenCall& call, RuleId rule, std::string action,
                   std::string was, std::string became) {
  sink_.notice(InjectionHit{.rule = rule,
                            .call = call.record.id,
                            .thread = thread.id,
                            .function = entry.function,
                            .caller = call.record.caller,
                            .at = clock_.now(),
                            .action = std::move(action),
                            .was = std::move(was),
                            .became = std::move(became)});
}

}  // namespace fade
