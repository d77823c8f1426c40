#include "session/number_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "numbers/buffer_scan.hpp"
#include "probes/call_facts.hpp"
#include "probes/copy_block.hpp"
#include "session/argument_reader.hpp"

namespace fade {
namespace {

constexpr int kHostToDevice = 1, kDeviceToHost = 2, kDefault = 4;
constexpr std::uint64_t kLegacyStream = 1, kPerThreadStream = 2;
constexpr std::size_t kMostSampled = 100'000, kMostBegun = 4096;

constexpr std::string_view kOrdering[] = {"hipEventRecord", "hipStreamWaitEvent", "hipStreamBeginCapture",
                                          "hipStreamEndCapture"};

bool begins_with(const probes::Probe& probe, std::string_view name) { return probe.symbol.starts_with(name); }
bool is_async(const probes::Probe& probe) { return probe.symbol.find("Async") != std::string::npos; }

std::optional<std::uint64_t> value(const Entry& entry, probes::Role role, const OpenCall& call) {
  return probes::value_with_role(*entry.probe, role, call.record, call.payload);
}

std::uint64_t named_argument(const Entry& entry, std::string_view name, const OpenCall& call) {
  for (const probes::Parameter& parameter : entry.probe->parameters)
    if (parameter.name == name) return argument(*entry.probe, parameter, call);
  return 0;
}

// The stream that the call means: which default stream a function means by 0 depends on its name.
std::uint64_t stream_meant(const Thread& thread, const Entry& entry, std::uint64_t handle) {
  if (handle == kLegacyStream) return numbers::kNullStream;
  const bool is_per_thread = handle == kPerThreadStream || (handle == 0 && entry.probe->symbol.ends_with("_spt"));
  return is_per_thread ? std::uint64_t{1} << 63 | thread.id.value() : handle;
}
std::uint64_t stream_of(const Thread& thread, const Entry& entry, const OpenCall& call) {
  return stream_meant(thread, entry, value(entry, probes::Role::Stream, call).value_or(0));
}

// Rows of a copy lie behind each other if each begins where the one before ends.
bool is_contiguous(const Entry& entry, bool down, const OpenCall& call) {
  const auto width = value(entry, probes::Role::Width, call);
  if (!width || value(entry, probes::Role::Height, call).value_or(1) <= 1) return true;
  return named_argument(entry, down ? "dpitch" : "spitch", call) == *width;
}

// A function that jumps into another one hands on its stack pointer.
std::uint64_t key_of(const OpenCall& call) { return call.sp.value ^ std::uint64_t{call.entry} << 48; }

std::string shown_bits(const numbers::Seen& seen) {
  return fmt::format("{} (0x{:0{}x})", numbers::value_of(seen.type, seen.found.first_bits), seen.found.first_bits,
                     numbers::size_of(seen.type) * 2);
}

}  // namespace

bool needs_for_numbers(const probes::Probe& probe) {
  if (probe.api != "hip") return false;  // CUDA's calls copy and wait in those of HIP
  if (probe.kind == probes::Kind::Copy || probe.kind == probes::Kind::Sync || probe.kind == probes::Kind::StreamCreate)
    return true;
  return std::ranges::any_of(kOrdering, [&](std::string_view name) { return begins_with(probe, name); });
}

// ---------------------------------------------------------------- the copy of a call

// nullopt: not between host and device.
std::optional<NumberWatch::Copy> NumberWatch::copy_of(const Thread& thread, const Entry& entry, const OpenCall& call) {
  const probes::Probe& probe = *entry.probe;
  if (probe.kind != probes::Kind::Copy) return std::nullopt;
  const auto block = probes::copy_block(probe, call.record, call.payload, entry.library_major);
  int kind = probes::copy_kind(probe, call.record, call.payload).value_or(kDefault);
  if (block && kind == kDefault) kind = block->kind();
  if (kind != kHostToDevice && kind != kDeviceToHost && kind != kDefault) return std::nullopt;
  Copy out{.down = kind == kDeviceToHost, .is_async = is_async(probe), .stream = stream_of(thread, entry, call)};
  const auto source = value(entry, probes::Role::Source, call),
             destination = value(entry, probes::Role::Destination, call);
  out.host = (out.down ? destination : source).value_or(0);
  out.device = (out.down ? source : destination).value_or(0);
  const auto bytes = block ? block->bytes : probes::byte_count(probe, call.record, call.payload);
  if (bytes == 0) return std::nullopt;
  out.bytes = bytes.value_or(0);
  if (kind == kDefault) out.why_not = "the call does not tell its direction (hipMemcpyDefault)";
  else if (block || !bytes || out.host == 0) out.why_not = "structures in memory describe the copy";
  else if (!is_contiguous(entry, out.down, call))
    out.why_not = "its rows do not lie behind each other in the host's memory";
  return out;
}

NumberWatch::State& NumberWatch::state_of(const Inferior& inferior) {
  const auto known = states_.find(inferior.id);
  if (known != states_.end() && known->second.execs == inferior.execs) return known->second;
  process_ended(inferior);
  return states_.emplace(inferior.id, State{.execs = inferior.execs}).first->second;
}

// sample=N: each Nth copy of a place.
bool NumberWatch::is_chosen(const OpenCall& call) {
  if (rule_.every <= 1) return true;
  const std::uint64_t place = std::uint64_t{call.record.function.value()} << 32 | call.record.caller.value();
  if (copies_of_place_.size() >= kMostSampled && !copies_of_place_.contains(place)) return true;
  return copies_of_place_[place]++ % rule_.every == 0;
}

NumbersSeen NumberWatch::described(const Thread& thread, const Copy& copy, const OpenCall& call) const {
  return {.call = call.record.id,
          .function = call.record.function,
          .thread = thread.id,
          .caller = call.record.caller,
          .stack = call.record.stack,
          .down = copy.down,
          .host = copy.host,
          .device = copy.device,
          .bytes = copy.bytes};
}

// The copy of the call, if it is to be looked at. One that is not is counted.
std::optional<NumberWatch::Copy> NumberWatch::chosen_copy(const Thread& thread, const Entry& entry,
                                                          const OpenCall& call) {
  auto copy = copy_of(thread, entry, call);
  // A copy inside of another one is the same copy.
  if (!copy || std::ranges::any_of(thread.calls.all(), &OpenCall::is_watched_copy)) return std::nullopt;
  if (!copy->why_not && state_of(*thread.inferior).waits.is_capturing()) copy->why_not = "a graph was being captured";
  if (!copy->why_not && !is_chosen(call)) copy->why_not = "sample=N leaves it out";
  if (!copy->why_not) return copy;
  left_out(*thread.inferior, described(thread, *copy, call), copy->why_not);
  return std::nullopt;
}

// ---------------------------------------------------------------- stops

void NumberWatch::at_entry(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  upload_.reset();
  State& state = state_of(*thread.inferior);
  if (state.began.size() >= kMostBegun) state.began.clear();  // of calls that have been left
  state.began[key_of(call)] = state.waits.now();
  if (entry.probe->kind != probes::Kind::Copy) return;
  const auto copy = chosen_copy(thread, entry, call);
  if (!copy) return;
  call.is_watched_copy = true;
  NumbersSeen seen = described(thread, *copy, call);
  const bool is_found = !copy->down && look(thread, seen);
  // An asynchronous copy to the host is looked at when its caller may be gone.
  if ((is_found || (copy->down && copy->is_async)) && wants_stack(call))
    call.record.stack = stacks_.at_entry(thread, registers, call.return_address);
  if (!copy->down) upload_ = std::move(seen);
}

void NumberWatch::began(const OpenCall& call) {
  if (!upload_) return;
  upload_->call = call.record.id;
  upload_->stack = call.record.stack;
  upload_->at = call.record.entry_ns;
  send(*std::exchange(upload_, std::nullopt));
}

void NumberWatch::at_return(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  State& state = state_of(*thread.inferior);
  const auto began = state.began.find(key_of(call));
  const std::uint64_t order = began == state.began.end() ? 0 : began->second;
  if (began != state.began.end()) state.began.erase(began);
  if (call.record.flags & kFailed) return;
  for (numbers::CopyWaits::Copy& copy : waited_for(state, thread, entry, call, order)) {
    copy.seen.wait = call.record.id;
    look(thread, copy.seen);
    send(std::move(copy.seen));
  }
  if (call.is_watched_copy) take_copy(thread, entry, registers, call);
}

std::vector<numbers::CopyWaits::Copy> NumberWatch::waited_for(State& state, const Thread& thread, const Entry& entry,
                                                              const OpenCall& call, std::uint64_t order) {
  const probes::Probe& probe = *entry.probe;
  const std::uint64_t stream = stream_of(thread, entry, call);
  if (probe.kind == probes::Kind::StreamCreate) {
    const bool is_blocking = (named_argument(entry, "flags", call) & 1) == 0;
    if (const auto handle = value(entry, probes::Role::Stream, call)) state.waits.stream_created(*handle, is_blocking);
  } else if (probe.kind == probes::Kind::Copy) {
    const bool is_down = probes::copy_kind(probe, call.record, call.payload) == kDeviceToHost;
    if (is_down && !is_async(probe)) return state.waits.stream_done(stream, order);
  } else if (begins_with(probe, "hipEventRecord")) {
    state.waits.recorded(named_argument(entry, "event", call), stream, order);
  } else if (begins_with(probe, "hipStreamWaitEvent")) {
    state.waits.joined(stream, named_argument(entry, "event", call));
  } else if (begins_with(probe, "hipStreamBeginCapture") || begins_with(probe, "hipStreamEndCapture")) {
    state.waits.capture(stream, begins_with(probe, "hipStreamBeginCapture"));
  } else if (begins_with(probe, "hipEventSynchronize")) {
    return state.waits.event_done(named_argument(entry, "event", call));
  } else if (begins_with(probe, "hipStreamSynchronize")) {
    return state.waits.stream_done(stream, order);
  } else if (probe.kind == probes::Kind::Sync) {
    return state.waits.device_done(thread.device, order);
  }
  return {};
}

// A copy to the host has returned.
void NumberWatch::take_copy(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  const auto copy = copy_of(thread, entry, call);
  if (!copy || !copy->down) return;
  NumbersSeen seen = described(thread, *copy, call);
  if (copy->is_async) {
    auto lost = state_of(*thread.inferior).waits.enqueued({std::move(seen), copy->stream, thread.device});
    left_out(*thread.inferior, lost, "the host's memory was used again before a wait was seen");
    return;
  }
  const bool is_found = look(thread, seen);
  if (is_found && wants_stack(call)) call.record.stack = stacks_.at_return(thread, registers, call.return_address);
  seen.stack = call.record.stack;
  send(std::move(seen));
}

bool NumberWatch::wants_stack(const OpenCall& call) const {
  return call.record.stack == 0 && stacks_.policy().choice().is_on();
}

// ---------------------------------------------------------------- a look at memory

// Returns true if something was found, or if the checksum of each copy is wanted. `seen.scanned` stays 0 if nothing was
// looked at.
bool NumberWatch::look(const Thread& thread, NumbersSeen& seen) {
  seen.at = clock_.now();
  const std::uint64_t wanted = std::min(seen.bytes, rule_.most_bytes);
  if (!rate_.take(wanted, seen.at)) {
    left_out(*thread.inferior, seen, "more bytes a second than rate= allows");
    return false;
  }
  read(thread, seen);
  if (seen.scanned == 0) left_out(*thread.inferior, seen, "the host's memory could not be read");
  return seen.scanned > 0 && (seen.nan + seen.inf + seen.outside > 0 || seen.checksum.has_value());
}

void NumberWatch::read(const Thread& thread, NumbersSeen& seen) {
  numbers::BufferScan scan(rule_);
  for (const numbers::Piece& piece : numbers::pieces_of(seen.bytes, rule_.most_bytes)) {
    buffer_.resize(std::max<std::size_t>(buffer_.size(), piece.size));
    const auto into = std::span(buffer_).first(piece.size);
    const std::size_t got = thread.memory().read({seen.host + piece.at}, into);
    scan.add(into.first(got), piece.at);
    seen.scanned += got;
    if (got < piece.size) break;
  }
  const numbers::Seen found = scan.result();
  seen.type = numbers::name_of(found.type);
  seen.guessed = found.is_guess;
  seen.elements = found.found.elements;
  seen.nan = found.found.nan;
  seen.inf = found.found.inf;
  seen.outside = found.found.outside;
  seen.least = found.found.least;
  seen.greatest = found.found.greatest;
  if (seen.scanned > 0) seen.checksum = found.checksum;
  if (seen.nan + seen.inf + seen.outside == 0 || !found.found.first) return;
  seen.first = found.found.first;
  seen.first_value = shown_bits(found);
}

// Calls that came before are stored first.
void NumberWatch::send(NumbersSeen seen) {
  if (seen.scanned == 0) return;
  book_.flush();
  sink_.notice(std::move(seen));
}

// ---------------------------------------------------------------- copies that are left out

void NumberWatch::left_out(const Inferior& inferior, const NumbersSeen& seen, const char* reason) {
  NumbersLeft& left = left_[{inferior.id, seen.down, reason}];
  left.process = inferior.id;
  left.down = seen.down;
  left.reason = reason;
  ++left.copies;
  left.bytes += seen.bytes;
}

void NumberWatch::left_out(const Inferior& inferior, const std::vector<numbers::CopyWaits::Copy>& copies,
                           const char* reason) {
  for (const numbers::CopyWaits::Copy& copy : copies) left_out(inferior, copy.seen, reason);
}

void NumberWatch::process_ended(const Inferior& inferior) {
  const auto known = states_.find(inferior.id);
  if (known == states_.end()) return;
  left_out(inferior, known->second.waits.take_all(), "no call was seen that waited for it");
  states_.erase(known);
}

void NumberWatch::report() {
  for (auto& [key, left] : left_) sink_.notice(std::move(left));
  left_.clear();
}

}  // namespace fade
