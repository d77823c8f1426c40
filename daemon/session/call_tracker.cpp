#include "session/call_tracker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/glob.hpp"
#include "elf/maps.hpp"
#include "probes/call_facts.hpp"
#include "session/code_images.hpp"

namespace fade {
namespace {

using probes::Location;
using probes::Parameter;
using probes::Role;

constexpr std::size_t kMaxString = 256;
constexpr std::size_t kMaxName = 4096;  // of what is known by its whole text: kernels' names (those of Tensile have 700 letters), paths
constexpr std::size_t kMaxPointed = 4096;  // bytes behind one pointer
constexpr std::size_t kMostDevices = 64;   // of one program, whose addresses are kept
constexpr std::size_t kMostExcluded = 16;  // sentences about libraries that rules leave out
constexpr std::uint64_t kMainStack = std::uint64_t{128} << 20;  // nothing else is mapped that close below it

std::size_t longest_text(const probes::Probe& probe, const Parameter& parameter) {
  return parameter.role == Role::KernelName || probe.kind == probes::Kind::ModuleLoad ? kMaxName : kMaxString;
}

std::uint32_t held(std::int64_t ns) { return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns, 0, std::numeric_limits<std::uint32_t>::max())); }

std::span<const std::byte> bytes_of(std::span<const std::uint64_t> words) { return std::as_bytes(words); }

// Who comes to a function by ways of his own may keep data where others keep the return address: no breakpoint belongs there.
bool is_code(Program& program, pid_t tid, RemoteAddr address) {
  const auto is_known = [&] { return std::ranges::any_of(program.code, [&](const RemoteRange& range) { return range.contains(address); }); };
  if (is_known()) return true;
  const auto maps = elf::read_maps(tid);
  if (!maps) return true;  // the thread is gone
  program.code.clear();
  for (const elf::Mapping& mapping : maps->all())
    if (mapping.executable) program.code.push_back(mapping.range);
  return is_known();
}

}  // namespace

std::uint64_t CallTracker::argument(const Parameter& parameter, const OpenCall& call) const {
  if (parameter.at.where == Location::Where::Integer && parameter.at.first < 6) return call.record.words[parameter.at.first];
  std::uint64_t value = 0;
  const PieceKind wanted = parameter.at.where == Location::Where::Stack ? PieceKind::Stack : PieceKind::Sse;
  for_each_piece(call.payload, [&](const PieceHeader& header, std::span<const std::byte> bytes) {
    const std::size_t at = std::size_t{parameter.at.first} * 8;
    if (header.kind == wanted && at + 8 <= bytes.size()) std::memcpy(&value, bytes.data() + at, 8);
  });
  return value;
}

// Of the launch that the thread is inside of, 0: none.
std::uint64_t CallTracker::kernel_around(const Thread& thread) const {
  if (thread.calls.empty()) return 0;
  const OpenCall& outer = thread.calls.all().back();
  const auto& probe = functions_[outer.entry].probe;
  const Parameter* kernel = probe && probe->kind == probes::Kind::Launch ? probe->with_role(Role::Kernel) : nullptr;
  return kernel ? argument(*kernel, outer) : 0;
}

// Whatever the call says about kernels, it says before any of it is stored.
void CallTracker::look_at_kernels(Thread& thread, const probes::Probe& probe, const OpenCall& call) {
  Program& program = *thread.inferior->program;
  const auto used = [&](std::uint64_t kernel) { kernels_.used(program, thread.inferior->id, thread.tid, kernel, symbols_); };
  const bool launches = probe.kind == probes::Kind::Launch;
  if (probe.kind == probes::Kind::GetFunction) {
    if (const Parameter* object = probe.with_role(Role::Address)) used(argument(*object, call));
  } else if (const Parameter* kernel = launches ? probe.with_role(Role::Kernel) : nullptr) {
    const std::uint64_t handle = argument(*kernel, call);
    used(handle);
    if (const std::uint64_t outer = kernel_around(thread)) kernels_.same(program, thread.inferior->id, handle, outer);
  } else if (launches || probe.kind == probes::Kind::Graph) {
    for (const probes::KernelUse& use : probes::kernels_used(probe, call.record, call.payload)) used(use.kernel);
  }
}

// The return address and, in the same read, the argument words behind it.
RemoteAddr CallTracker::read_entry(const Thread& thread, const Entry& entry, const Registers& registers, std::span<const std::uint64_t> on_stack,
                                   const Memory& memory, OpenCall& call) {
  std::array<std::uint64_t, 1 + 255> words;
  const std::size_t wanted = 1 + (entry.probe ? entry.probe->stack_words : 0u);
  if (on_stack.size() < wanted)
    on_stack = std::span(words).first(memory.read(registers.sp(), std::as_writable_bytes(std::span(words).first(wanted))) / 8);
  if (on_stack.empty()) return {};
  if (wanted > 1) append_piece(call.payload, {.kind = PieceKind::Stack}, bytes_of(on_stack.subspan(1, std::min(wanted, on_stack.size()) - 1)));
  if (entry.probe && entry.probe->sse_words > 0) {
    if (const auto sse = Tracee(thread.tid).sse_words())
      append_piece(call.payload, {.kind = PieceKind::Sse}, bytes_of(std::span(*sse).first(entry.probe->sse_words)));
  }
  return {on_stack[0]};
}

void CallTracker::fetch_pointed(const Thread& thread, const Entry& entry, OpenCall& call) {
  const Memory& memory = thread.inferior->program->space->memory();
  for (const std::uint8_t index : entry.strings) {
    const RemoteAddr at{argument(entry.probe->parameters[index], call)};
    if (!at) continue;
    bool cut = false;
    const auto text = memory.c_string(at, longest_text(*entry.probe, entry.probe->parameters[index]), &cut);
    append_piece(call.payload, {.kind = PieceKind::String, .param = index, .cut = cut, .unreadable = !text},
                 text ? std::as_bytes(std::span(*text)) : std::span<const std::byte>());
  }
  for (const std::uint8_t index : entry.ins) {
    const Parameter& parameter = entry.probe->parameters[index];
    const RemoteAddr at{argument(parameter, call)};
    if (!at) continue;
    std::uint64_t count = parameter.count;
    if (parameter.length_param >= 0) count = argument(entry.probe->parameters[static_cast<std::size_t>(parameter.length_param)], call);
    buffer_.resize(std::min<std::uint64_t>(kMaxPointed, std::min<std::uint64_t>(count, kMaxPointed) * parameter.pointee.size));
    const std::size_t got = memory.read(at, buffer_);
    append_piece(call.payload, {.kind = PieceKind::In, .param = index, .unreadable = got < buffer_.size()},
                 std::span(buffer_).first(got));
  }
}

void CallTracker::fetch_out(const Thread& thread, const Entry& entry, OpenCall& call) const {
  const Memory& memory = thread.inferior->program->space->memory();
  std::array<std::byte, kMaxPointed> buffer;
  for (const std::uint8_t index : entry.outs) {
    const Parameter& parameter = entry.probe->parameters[index];
    const RemoteAddr at{argument(parameter, call)};
    if (!at) continue;
    std::uint64_t count = parameter.count;
    if (parameter.length_param >= 0) count = argument(entry.probe->parameters[static_cast<std::size_t>(parameter.length_param)], call);
    const auto size = std::min<std::uint64_t>(kMaxPointed, std::min<std::uint64_t>(count, kMaxPointed) * parameter.pointee.size);
    const std::size_t got = memory.read(at, std::span(buffer).first(size));
    append_piece(call.payload, {.kind = PieceKind::Out, .param = index, .unreadable = got < size}, std::span(buffer).first(got));
  }
}

CallSite& CallTracker::call_site(Thread& thread, RemoteAddr return_address) {
  Program& program = *thread.inferior->program;
  if (program.call_sites.size() >= most_call_sites_ && !program.call_sites.contains(return_address)) return other_site_;
  const auto [it, is_new] = program.call_sites.try_emplace(return_address);
  if (!is_new) return it->second;
  CallSite& site = it->second;
  site.id = ++last_call_site_;
  site.is_code = is_code(program, thread.tid, return_address);
  CallSiteSeen seen{.site = site.id, .process = thread.inferior->id, .address = return_address.value};
  if (const Module* module = program.module_at(return_address)) {
    site.library = module->path;
    program.new_caller = return_address;
    seen.offset = return_address.value - module->entry.l_addr;
    if (const auto* file = symbols_.of(program, thread.tid, return_address))
      if (const auto symbol = file->symbols().at(seen.offset)) seen.symbol = fmt::format("{}+{:#x}", symbol->name, symbol->offset);
  } else if (const auto maps = elf::read_maps(thread.tid)) {
    const elf::Mapping* mapping = maps->find(return_address);
    if (mapping && mapping->has_file()) {
      site.library = mapping->path;
      seen.offset = return_address - mapping->range.begin + mapping->offset;
    }
    site.changeable = !mapping || !mapping->has_file();
  }
  seen.library = site.library;
  sink_.notice(std::move(seen));
  return site;
}

// Why nothing may be armed there.
Result<void> CallTracker::may_arm(const CallSite& call_site, RemoteAddr return_address) const {
  if (call_site.refused) return tl::unexpected(Error{});
  if (call_site.id == 0) return fail(fmt::format("calls come from more than {} places", most_call_sites_));
  if (!call_site.is_code) return fail(fmt::format("{:#x} is no code", return_address.value));
  return {};
}

// False where the return cannot be seen; the reason is recorded. A call that is met while fade leaves is one that is
// running then.
bool CallTracker::watch_return(Thread& thread, CallSite& call_site, RemoteAddr return_address) {
  Program& program = *thread.inferior->program;
  AddressSpace& space = *program.space;
  if (space.is_put_back()) return true;
  Site* site = space.find(return_address);
  if (site && call_site.changeable && space.memory().value<std::uint8_t>(return_address) != 0xCC) {
    space.forget({return_address, return_address + 1}, thread.tid);  // generated code was written again
    site = nullptr;
    program.code.clear();
    call_site.is_code = is_code(program, thread.tid, return_address);
  }
  if (!site || site->is_lifted || call_site.id == 0) {
    const auto armed = may_arm(call_site, return_address).and_then([&] { return space.arm_return(return_address, thread.tid); });
    if (!armed) {
      const bool has_no_room = armed.error().code == ENOSPC;  // there may be some later
      if (call_site.refusal.empty()) call_site.refusal = call_site.is_code ? armed.error().message : "no code stands where they return to";
      unseen_.add(call_site.refusal);
      if (!std::exchange(has_no_room ? program.has_told_no_room : call_site.refused, true))
        sink_.notice(Lifecycle{clock_.now(), thread.inferior->id, thread.id, "refused", 0,
                               fmt::format("returns to {} cannot be seen: {}", call_site.library.empty() ? "memory of no library" : call_site.library, armed.error().message)});
      return false;
    }
    site = *armed;
  }
  site->call_site = call_site.id;
  return true;
}

// The mapping that holds the thread's stack pointer now is its own stack if it is the main thread's or holds the thread's
// control block, as libc lays it out. Otherwise it runs on another stack just now, and stack contents decide.
RemoteRange CallTracker::stack_of(Thread& thread, RemoteAddr sp) const {
  if (thread.stack.size() > 0) return thread.stack;
  const auto maps = elf::read_maps(thread.tid);
  const elf::Mapping* mapping = maps ? maps->find(sp) : nullptr;
  const auto registers = Tracee(thread.tid).registers();
  const bool is_own = mapping && registers && (thread.tid == thread.inferior->pid ? mapping->path == "[stack]"
                                                                                  : mapping->range.contains({registers->fs_base}));
  if (!is_own) return {};
  thread.stack = mapping->range;
  if (mapping->path == "[stack]") thread.stack.begin = mapping->range.end - kMainStack;
  return thread.stack;
}

// Another thread's call may stand there by now, where a fiber was left behind.
void CallTracker::forget_open(Thread& thread, RemoteAddr sp) {
  const auto it = thread.inferior->open_by_sp.find(sp);
  if (it != thread.inferior->open_by_sp.end() && it->second == &thread) thread.inferior->open_by_sp.erase(it);
}

void CallTracker::unwound(Thread& thread, const CallFrame& frame) {
  const Memory& memory = thread.inferior->program->space->memory();
  for (OpenCall& call : thread.calls.take_unwound(frame, memory, [&] { return stack_of(thread, frame.sp); })) {
    forget_open(thread, call.sp);
    close(std::move(call), kUnwound);
  }
}

void CallTracker::close(OpenCall call, std::uint16_t flags) {
  if (call.record.id == 0) return;  // a resolver's, or of a time that is not recorded
  call.record.flags |= flags;
  call.record.exit_ns = clock_.now();
  complete_.push_back({call.record, std::move(call.payload)});
}

// A rule changes an answer when the call returns, whatever its probe says.
bool CallTracker::needs_return(const Entry& entry) const {
  return !entry.probe || !entry.probe->entry_only || is_needed(entry);
}

// While nothing is recorded: resolvers say where functions are, threads change their device, and rules go on being applied.
bool CallTracker::is_needed(const Entry& entry) const {
  if (entry.what == Entry::What::Resolver) return true;
  return entry.probe && (entry.probe->kind == probes::Kind::SetDevice || (!overrides_.empty() && overrides_.touches(entry.probe->symbol)));
}

// The return address matters where the frame may be that of an open call, which jumped here.
CallFrame CallTracker::frame_at_entry(const Thread& thread, std::uint32_t entry, RemoteAddr sp, std::span<const std::uint64_t> on_stack) {
  CallFrame frame{.sp = sp, .entry = entry};
  if (!thread.calls.has_frame_at(sp)) return frame;
  if (!on_stack.empty()) frame.return_address = {on_stack[0]};
  else frame.return_address = thread.inferior->program->space->memory().value<RemoteAddr>(sp).value_or(RemoteAddr{});
  return frame;
}

void CallTracker::enter(Thread& thread, std::uint32_t index, const Registers& registers, std::span<const std::uint64_t> on_stack,
                        std::int64_t now) {
  const Entry& entry = functions_[index];
  unwound(thread, frame_at_entry(thread, index, registers.sp(), on_stack));
  const bool counted = entry.what == Entry::What::Function && recording_;
  if (!counted && !is_needed(entry)) return;
  OpenCall call{.sp = registers.sp(), .entry = index};
  call.record.words = registers.argument_words();
  call.record.function = entry.function;
  call.record.thread = thread.id;
  const bool with_stack = counted && stacks_.policy().wants_every(*entry.probe);
  call.return_address =
      read_entry(thread, entry, registers, on_stack, with_stack ? stacks_.look(thread, registers) : thread.inferior->program->space->memory(), call);
  if (counted) {
    call.record.id = ++last_call_;
    call.record.parent = thread.calls.innermost();
    fetch_pointed(thread, entry, call);
    look_at_kernels(thread, *entry.probe, call);
  }
  CallSite& site = call_site(thread, call.return_address);
  call.record.caller = site.id;
  if (counted && stacks_.policy().wants(*entry.probe, entry.function, site.id))
    call.record.stack = stacks_.at_entry(thread, registers, call.return_address);
  const bool wants_return = needs_return(entry);
  if (!wants_return || !watch_return(thread, site, call.return_address)) {
    call.record.entry_ns = clock_.now();
    return close(std::move(call), wants_return ? kUnseen : kEntryOnly);
  }
  thread.inferior->open_by_sp[call.sp] = &thread;
  CallRecord& record = thread.calls.push(std::move(call)).record;
  record.entry_ns = clock_.now();  // what we did since is not the call's time
  record.held_ns = held(record.entry_ns - now);
}

void CallTracker::correct(Thread& thread, const Entry& entry, OpenCall& call) {
  if (overrides_.empty() || !overrides_.touches(entry.probe->symbol)) return;
  std::array<std::uint64_t, 16> values{};
  const std::size_t n = std::min(values.size(), entry.probe->parameters.size());
  for (std::size_t i = 0; i < n; ++i) values[i] = argument(entry.probe->parameters[i], call);
  const std::string caller(base_name(thread.inferior->program->call_sites[call.return_address].library));
  probes::DeviceCall asked{entry.probe->symbol, std::span(values).first(n), thread.device, caller};
  if (overrides_.need_slots()) place(thread, asked);
  if (!overrides_.applies(asked)) return note_excluded(asked);

  const ProcessMemory& memory = thread.inferior->program->space->memory();
  std::vector<std::vector<std::byte>> contents;
  std::vector<probes::Found> found;
  contents.reserve(2);  // found points into it
  for (const auto& wanted : overrides_.reads(asked.symbol, asked.arguments)) {
    if (wanted.bytes == 0) continue;
    auto& bytes = contents.emplace_back(std::min<std::size_t>(wanted.bytes, kMaxPointed));
    bytes.resize(memory.read({values[wanted.parameter]}, bytes));
    found.push_back({wanted.parameter, bytes});
  }
  for (auto& patch : overrides_.patches(asked, found)) {
    const RemoteAddr at{values[patch.parameter] + patch.offset};
    if (!patch.bytes.empty() && !memory.write(at, patch.bytes, thread.tid)) continue;
    call.record.flags |= kOverridden;
    if (!patch.bytes.empty()) {
      for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i].parameter == patch.parameter && patch.offset + patch.bytes.size() <= contents[i].size())
          std::copy(patch.bytes.begin(), patch.bytes.end(), contents[i].begin() + patch.offset);
    }
    sink_.notice(OverrideHit{patch.rule, call.record.id, thread.id, call.record.caller, clock_.now(), patch.device,
                             patch.field, std::move(patch.was), std::move(patch.became)});
  }
  if (!(call.record.flags & kOverridden)) return;
  for (const auto& [parameter, bytes] : found)
    append_piece(call.payload, {.kind = PieceKind::Became, .param = parameter}, bytes);
}

// Where the call's device is: from the answer itself, else as an earlier answer told it.
void CallTracker::place(Thread& thread, probes::DeviceCall& call) {
  Program& program = *thread.inferior->program;
  const ProcessMemory& memory = program.space->memory();
  const auto wanted = overrides_.reads(call.symbol, call.arguments)[0];
  std::vector<std::byte> bytes(std::min<std::size_t>(wanted.bytes, kMaxPointed));
  if (wanted.bytes > 0) bytes.resize(memory.read({call.arguments[wanted.parameter]}, bytes));
  const probes::Found found{wanted.parameter, bytes};
  if (const auto told = probes::Overrides::slot_told(call, std::span(&found, 1)); told && program.device_slots.size() < kMostDevices)
    program.device_slots[told->first] = told->second;
  if (const auto known = program.device_slots.find(probes::Overrides::device_of(call)); known != program.device_slots.end()) call.slot = known->second;
  if (const probes::Rule* rule = overrides_.unplaced(call); rule && !std::exchange(program.has_told_unplaced, true))
    sink_.notice(Lifecycle{clock_.now(), thread.inferior->id, thread.id, "note", 0,
                           fmt::format("{} was not applied to an answer of {}: nothing had told the device's PCI address yet", rule->target, call.symbol)});
  const int device = probes::Overrides::device_of(call);
  const probes::Rule* rule = overrides_.elsewhere(call);
  if (!rule || program.devices_left_alone.size() >= kMostDevices || !program.devices_left_alone.insert(device).second) return;
  const std::string where = call.slot ? "at " + call.slot->text() : "whose PCI address was not told";
  left_alone_.insert(fmt::format("{} was not applied to device {} {}: the GPU driver has no such GPU", rule->spec, device, where));
  sink_.notice(Lifecycle{clock_.now(), thread.inferior->id, thread.id, "note", 0, *left_alone_.rbegin()});
}

// A library that asked for an answer which a rule would change, had the rule not excluded that library.
void CallTracker::note_excluded(const probes::DeviceCall& call) {
  if (excluded_.size() >= kMostExcluded) return;
  if (const probes::Rule* rule = overrides_.for_other_callers(call))
    excluded_.insert(fmt::format("{} asked {}, and {} leaves it out", call.caller.empty() ? "code of no library" : call.caller, call.symbol, rule->spec));
}

void CallTracker::follow_device(Thread& thread, const Entry& entry, const OpenCall& call) {
  if (entry.probe->kind != probes::Kind::SetDevice) return;
  const Parameter* device = entry.probe->with_role(Role::Device);
  if (!device) return;
  thread.device = static_cast<int>(argument(*device, call));
  if (call.record.id == 0) sink_.notice(DeviceSet{thread.id, thread.device});
}

std::span<const CallTracker::Left> CallTracker::leave(Thread& thread, const Registers& registers,
                                                      RemoteAddr return_address, std::int64_t now) {
  left_.clear();
  const RemoteAddr sp = registers.sp() - 8;
  auto& open_by_sp = thread.inferior->open_by_sp;
  const auto owner = open_by_sp.find(sp);
  if (owner == open_by_sp.end()) return {};
  OpenCalls& calls = owner->second->calls;  // of another thread where a fiber has moved
  OpenCall* open = calls.find(return_address, sp);
  if (!open) return {};
  OpenCall innermost = calls.remove(*open);
  open_by_sp.erase(owner);
  unwound(thread, {.sp = sp, .return_address = return_address});
  left_.push_back(returned(thread, std::move(innermost), registers, now));
  while ((open = calls.find(return_address, sp))) left_.push_back(returned(thread, calls.remove(*open), registers, now));
  return left_;
}

CallTracker::Left CallTracker::returned(Thread& thread, OpenCall call, const Registers& registers, std::int64_t now) {
  const Entry& entry = functions_[call.entry];
  if (entry.what != Entry::What::Function) return Left{call.entry, registers.result(), true, {}};
  call.record.exit_ns = now;
  call.record.result = registers.result();
  if (entry.probe->returns_sse())
    if (const auto sse = Tracee(thread.tid).sse_words()) call.record.result = (*sse)[0];
  call.record.flags |= kReturned;
  const bool failed = entry.probe->failed(call.record.result);
  if (failed) call.record.flags |= kFailed;
  if (failed && call.record.id != 0 && call.record.stack == 0 && stacks_.policy().wants_failed())
    call.record.stack = stacks_.at_return(thread, registers, call.return_address);  // its caller's frames are still what they were
  fetch_out(thread, entry, call);
  if (!failed) {
    correct(thread, entry, call);
    follow_device(thread, entry, call);
    if (entry.probe->kind == probes::Kind::ModuleLoad) read_code_image(thread, *entry.probe, call);
  }
  Left left{call.entry, registers.result(), false, {}};
  if (entry.gives_table && !failed) left.table = table_given(*entry.probe, call.record, call.payload);
  if (call.record.id != 0) complete_.push_back({call.record, std::move(call.payload)});
  return left;
}

void CallTracker::flush(std::int64_t held_ns) {
  for (Complete& call : complete_) {
    call.record.held_ns = held(call.record.held_ns + held_ns);
    sink_.call(call.record, call.payload);
  }
  complete_.clear();
}

void CallTracker::thread_ended(Thread& thread, bool process_ended) {
  for (OpenCall& call : thread.calls.take_all()) {
    forget_open(thread, call.sp);
    close(std::move(call), process_ended ? kOpenAtEnd : kUnwound);
  }
  flush();
}

}  // namespace fade
