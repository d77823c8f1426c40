#include "session/breakpoint_capture.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/glob.hpp"
#include "probes/decode.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"
#include "session/code_images.hpp"
#include "session/site_use.hpp"
#include "session/thread_stack.hpp"

namespace fade {
namespace {

// The trap at `trap` is that of the breakpoint's int3, and not a SIGTRAP that was sent to a thread that is there. Asked
// for breakpoints that are one byte long, and for a thread that may stand behind an int3 that it has passed.
bool is_of_int3(const Thread& thread, const Site& site, RemoteAddr trap) {
  if (thread.trap.passed != trap && !site.needs_proof()) return true;
  const auto info = Tracee(thread.tid).siginfo();
  return !info || info->si_code == SI_KERNEL;
}

}  // namespace

CallBooks::CallBooks(EventSink& sink, const SessionClock& clock, std::size_t most_call_sites)
    : book(sink, clock, stack_of), sites(sink, symbols, most_call_sites), packets(book) {}

BreakpointCapture::BreakpointCapture(const Parts& parts)
    : sink_(parts.sink),
      clock_(parts.clock),
      functions_(parts.functions),
      stacks_(parts.stacks),
      book_(parts.books.book),
      sites_(parts.books.sites),
      packets_(parts.books.packets),
      effects_(parts.effects),
      returns_(sink_, clock_, parts.roster, sites_),
      tensors_(sink_, clock_),
      kernels_(sink_, functions_, parts.books.symbols),
      corrector_(sink_, clock_, parts.overrides, parts.keeps_answers),
      injector_(sink_, clock_, parts.injections, parts.replaces_dry),
      numbers_(sink_, clock_, book_, stacks_, parts.numbers),
      checks_(sink_, clock_, stacks_, parts.check, parts.check_program),
      actions_(sink_, clock_, book_, stacks_, parts.actions, parts.step) {}

// ---------------------------------------------------------------- breakpoints

std::vector<Result<bool>> BreakpointCapture::watch(Inferior& inferior, std::span<const WatchedFunction> functions,
                                                   Tid stopped) {
  std::vector<FunctionEntry> code;
  for (const WatchedFunction& function : functions) code.push_back(function.code);
  const std::vector<Result<Site*>> sites = inferior.space().entries().arm(code, stopped);
  std::vector<Result<bool>> out;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (!sites[i]) {
      out.push_back(tl::unexpected(sites[i].error()));
    } else {
      const bool is_new = SiteUse::of(**sites[i]).entry == 0;  // every call counts once
      if (is_new) use_as_entry(**sites[i], functions[i].entry);
      out.push_back(is_new);
    }
  }
  return out;
}

void BreakpointCapture::forget(Inferior& inferior, RemoteRange range, Tid stopped) {
  inferior.space().forget(range, stopped);
}

std::optional<std::uint32_t> BreakpointCapture::on_trap(Thread& thread, const Registers& registers, std::int64_t now) {
  const RemoteAddr trap = registers.ip() - 1;
  const Site* const found = thread.space().find(trap);
  if (!found || !is_of_int3(thread, *found, trap)) return std::nullopt;
  const Site site = *found;  // handling may forget sites
  const bool in_pad = site.is_entry_pad(trap);
  thread.trap.passed = in_pad ? trap : RemoteAddr{};
  if (thread.inferior->program->returns_rest_since != 0) thread.last_hit = boottime_ns();
  if (!in_pad) Tracee(thread.tid).set_ip(site.slot);  // the site is not lifted: DECISIONS 3
  thread.thread_pointer = registers.fs_base;
  const RemoteAddr sp = registers.sp();
  if (thread.is_on_errand && is_of_errand(thread, site, sp)) return 0;
  const bool again = thread.shown.hit(site.address, sp, [&] { return stack_of(thread, sp); });
  return again ? 0 : hit(thread, site, in_pad, registers, now);
}

// The guards see the calls of an errand, too.
bool BreakpointCapture::is_of_errand(Thread& thread, const Site& site, RemoteAddr sp) {
  const SiteUse use = SiteUse::of(site);
  if (use.entry != 0 && !functions_[use.entry].is_call()) return false;
  return checks_.meets(thread, site.address, sp);
}

std::uint32_t BreakpointCapture::hit(Thread& thread, const Site& site, bool in_pad, const Registers& registers,
                                     std::int64_t now) {
  const SiteUse use = SiteUse::of(site);
  const std::uint32_t ended = use.call_site != 0 ? leave(thread, registers, site.address, now) : 0;
  if (use.entry == 0) {
    checks_.after_returns(thread);
    return ended;
  }
  checks_.cannot_depart();
  const Entry& entry = functions_[use.entry];
  if (!entry.is_call()) return use.entry;  // a guard: the session's matter
  std::array<std::uint64_t, 1 + EntryPad::kWords> shown;
  Registers at_entry = registers;  // the instructions before the site have moved nothing else
  at_entry.rsp += site.lead.depth;
  CallEffects::began(thread, entry);
  enter(thread, use.entry, at_entry,
        in_pad ? site.entry_pad().shown(registers, shown) : std::span<const std::uint64_t>(), now);
  return use.entry;
}

void BreakpointCapture::take(Thread& thread, std::uint32_t index, const Registers& at_entry, std::int64_t now) {
  CallEffects::began(thread, functions_[index]);
  enter(thread, index, at_entry, {}, now);
}

void BreakpointCapture::thread_ended(Thread& thread, bool process_ended) {
  packets_.thread_ended(thread);
  delay_ended(thread, clock_.now());
  if (process_ended) numbers_.process_ended(*thread.inferior);
  checks_.thread_ended(thread, process_ended);
  book_.thread_ended(thread, process_ended);
}

// ---------------------------------------------------------------- calls

// The stopped thread is at the entry of function `index` at time `now`. `on_stack`: as much of the stack as is known
// already, from the stack pointer on.
void BreakpointCapture::enter(Thread& thread, std::uint32_t index, const Registers& registers,
                              std::span<const std::uint64_t> on_stack, std::int64_t now) {
  Entry& entry = functions_[index];
  if (entry.needs.hsa == probes::HsaCall::QueueEnd) packets_.queue_ends(thread, RemoteAddr{registers.rdi});
  book_.arrive(thread, index, registers.sp(), on_stack, thread.memory());
  if (!is_recorded(entry) && !entry.needs.always()) return;
  OpenCall call{.sp = registers.sp(), .entry = index};
  call.record.words = registers.argument_words();
  call.record.function = entry.function;
  call.record.thread = thread.id;
  read_arguments(thread, entry, registers, on_stack, call);
  CallSite& site = sites_.of(thread, call.return_address);
  call.record.caller = site.id;
  const bool is_kept = is_recorded(entry) && is_wanted(entry, site) && has_wanted_values(entry, call);
  if (!is_kept && !entry.needs.always()) return;
  if (is_kept && entry.needs.gemm && checks_.at_entry(thread, entry, call)) return;
  if (is_kept && stacks_.policy().wants(*entry.probe, entry.function, site.id))
    call.record.stack = stacks_.at_entry(thread, registers, call.return_address);
  const bool is_watched = is_kept && entry.needs.numbers;
  if (is_watched) numbers_.at_entry(thread, entry, registers, call);
  const bool is_seen = entry.needs.result && returns_.watch(thread, site, call.return_address);
  begin(thread, is_kept, call.record);
  if (is_watched) numbers_.began(call);
  if (entry.needs.inject && inject(thread, entry, registers, call)) return;
  if (!is_seen) return book_.close(std::move(call), entry.needs.result ? kUnseen : kEntryOnly);
  call.record.held_ns = held_time(call.record.entry_ns - now);
  book_.open(thread, std::move(call));
}

bool BreakpointCapture::is_wanted(Entry& entry, const CallSite& site) {
  const std::string& callers = entry.needs.callers;
  if (callers.empty()) return true;
  const bool is_excluded = callers.starts_with('!');
  const std::string pattern = callers.substr(is_excluded ? 1 : 0);
  const bool is_wanted = glob_match(pattern, std::string(base_name(site.library))) != is_excluded;
  entry.left_out += is_wanted ? 0 : 1;
  return is_wanted;
}

// A value as it is shown; a text without its quotes.
bool BreakpointCapture::has_wanted_values(const Entry& entry, const OpenCall& call) {
  if (!entry.needs.only) return true;
  const probes::Payload payload(call.payload);
  for (const probes::Value& value : probes::decode(*entry.probe, call.record, payload, entry.library_major)) {
    const auto parameter = std::ranges::find(entry.probe->parameters, value.name, &probes::Parameter::name);
    if (parameter == entry.probe->parameters.end() || parameter->only.empty()) continue;
    std::string text = value.text;
    if (text.starts_with('"') && text.size() > 1) text = text.substr(1, text.size() - 2);
    const auto matches = [&](const std::string& pattern) { return glob_match(pattern, text); };
    if (!std::ranges::any_of(parameter->only, matches)) return false;
  }
  return true;
}

// The call gets its id and time last: fade's own work until now is not its time. Other threads call meanwhile, and a
// call with a lower id has no later time.
void BreakpointCapture::begin(const Thread& thread, bool is_recorded, CallRecord& record) {
  record.entry_ns = clock_.now();
  if (!is_recorded) return;
  if (now_behind_others_) record.entry_ns = now_behind_others_();
  book_.number(thread, record);
  record.entry_ns = book_.entry_time(record.entry_ns);
}

// A recorded call is read in whole, any other call with its registers, stack words and return address. The stack that a
// policy wants of every call is read together with the arguments.
void BreakpointCapture::read_arguments(Thread& thread, const Entry& entry, const Registers& registers,
                                       std::span<const std::uint64_t> on_stack, OpenCall& call) {
  const bool with_stack = is_recorded(entry) && stacks_.policy().wants_every(*entry.probe);
  const Memory& memory = with_stack ? stacks_.look(thread, registers) : thread.memory();
  call.return_address = ArgumentReader::read_entry(entry, registers, on_stack, thread.tid, memory, call);
  if (!is_recorded(entry)) return;
  arguments_.read_inputs(entry, thread.memory(), call);
  if (!entry.needs.of_operator.empty()) tensors_.read(entry, thread.inferior->id, thread.memory(), call);
  if (entry.needs.kernel_names) kernels_.name(thread, *entry.probe, call.record, call.payload);
}

// The stopped thread is at a return address of calls. Innermost first: several calls end if a function jumped into
// another one, none if no open call returns here. Returns the function of the outermost that ended, 0: none.
std::uint32_t BreakpointCapture::leave(Thread& thread, const Registers& registers, RemoteAddr return_address,
                                       std::int64_t now) {
  std::uint32_t last = 0;
  const auto calls = book_.take_returned(thread, return_address, registers.sp() - 8, thread.memory());
  if (calls.empty()) returns_.met_by_no_call(thread, return_address);
  Registers seen = registers;
  for (OpenCall& call : calls) {
    last = call.entry;
    const EndedCall ended = returned(thread, std::move(call), seen, now);
    effects_.ended(thread, functions_[last], ended);
  }
  return last;
}

EndedCall BreakpointCapture::returned(Thread& thread, OpenCall call, Registers& registers, std::int64_t now) {
  const Entry& entry = functions_[call.entry];
  EndedCall ended{.result = registers.result(), .table = {}};
  if (entry.what != Entry::What::Function) return ended;
  call.record.exit_ns = now;
  if (entry.needs.inject) inject_at_return(thread, entry, registers, call);
  ended.result = registers.result();
  take_result(thread, entry, registers, call);
  arguments_.read_outputs(entry, thread.memory(), call);
  if (!(call.record.flags & kFailed)) {
    succeeded(thread, entry, call);
    if (entry.needs.table) ended.table = table_given(*entry.probe, call.record, call.payload);
  }
  if (entry.needs.numbers && call.record.id != 0) numbers_.at_return(thread, entry, registers, call);
  if (call.record.id != 0) checks_.at_return(thread, entry, registers, call);
  if (call.record.id != 0) actions_.at_return(thread, entry, registers, call);
  if (!packets_.take(thread, entry, call)) complete(thread, std::move(call));
  return ended;
}

// A call with a delay behind it ends with the delay, which may be cut short.
void BreakpointCapture::complete(Thread& thread, OpenCall call) {
  if (call.record.exit_ns == thread.held_until) thread.held_calls.push_back(std::move(call));
  else book_.complete(call);
}

void BreakpointCapture::delay_ended(Thread& thread, std::int64_t now) {
  for (OpenCall& call : thread.held_calls) {
    call.record.exit_ns = std::max(call.record.entry_ns, std::min(call.record.exit_ns, now));
    book_.complete(call);
  }
  thread.held_calls.clear();
}

bool BreakpointCapture::inject(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  const Injector::Order order = injector_.at_entry(thread, entry, call);
  if (order.delay_ns > 0) thread.held_until = clock_.now() + order.delay_ns;
  if (!order.error || !call.return_address) return false;
  skip(thread, entry, registers, *order.error, call);
  return true;
}

// The function is not entered: the thread goes on behind the call, as if it had returned. The stop is reaped first. If
// fade dies before the registers are set, the thread makes the call; afterwards, no SIGTRAP meets it at an address that
// is not fade's. `registers`: as they were at the entry.
void BreakpointCapture::skip(Thread& thread, const Entry& entry, const Registers& registers, std::int64_t error,
                             OpenCall& call) {
  const Tracee tracee(thread.tid);
  auto after = tracee.registers();
  if (!after) return;  // killed meanwhile
  Injector::write_outputs(thread, entry, call);
  after->rip = call.return_address.value;
  after->rsp = registers.rsp + 8;
  after->rax = static_cast<std::uint64_t>(error);
  Tracer::reap_stop(thread.tid);
  tracee.set_registers(*after);
  thread.trap.passed = {};
  call.record.exit_ns = std::max(clock_.now(), thread.held_until);
  call.record.flags |= kInjected;
  take_result(thread, entry, *after, call);
  arguments_.read_outputs(entry, thread.memory(), call);
  if (call.record.id != 0) actions_.at_return(thread, entry, *after, call);
  complete(thread, std::move(call));
  effects_.ended(thread, entry, {.result = after->rax, .table = {}});
}

void BreakpointCapture::inject_at_return(Thread& thread, const Entry& entry, Registers& registers, OpenCall& call) {
  const Injector::Answer answer = injector_.at_return(thread, entry, call, registers.result());
  if (answer.delay_ns > 0) {
    thread.held_until = std::max(thread.held_until, clock_.now()) + answer.delay_ns;
    call.record.exit_ns = thread.held_until;
  }
  if (!answer.result) return;
  registers.rax = *answer.result;
  Tracee(thread.tid).set_result(*answer.result);
  call.record.flags |= kInjected;
}

// The frames of the caller are unchanged since the call, so a failed call gets its stack now.
void BreakpointCapture::take_result(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  CallRecord& record = call.record;
  record.result = registers.result();
  if (entry.needs.sse_result)
    if (const auto sse = Tracee(thread.tid).sse_words()) record.result = (*sse)[0];
  record.flags |= kReturned;
  if (!entry.probe->failed(record.result)) return;
  record.flags |= kFailed;
  if (record.id != 0 && record.stack == 0 && stacks_.policy().wants_failed())
    record.stack = stacks_.at_return(thread, registers, call.return_address);
}

void BreakpointCapture::succeeded(Thread& thread, const Entry& entry, OpenCall& call) {
  corrector_.correct(thread, entry, call);
  if (entry.needs.device) follow_device(thread, *entry.probe, call);
  if (entry.needs.makes_tensor) tensors_.learn(entry, thread.inferior->id, thread.memory(), call);
  if (entry.needs.code_object) read_code_image(thread, *entry.probe, call);
}

void BreakpointCapture::follow_device(Thread& thread, const probes::Probe& probe, const OpenCall& call) {
  const probes::Parameter* device = probe.with_role(probes::Role::Device);
  if (!device) return;
  thread.device = static_cast<int>(argument(probe, *device, call));
  if (call.record.id == 0) sink_.notice(DeviceSet{thread.id, thread.device});
}

}  // namespace fade
