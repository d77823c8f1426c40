#include "live/announcer.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/human.hpp"
#include "base/signal_name.hpp"
#include "probes/call_facts.hpp"
#include "probes/decode.hpp"

namespace fade::live {
namespace {

constexpr std::size_t kMostMoments = 256;  // that wait for their threads
constexpr std::size_t kMostFailures = 64;  // kinds that are told
constexpr std::array<std::string_view, 3> kOutOfMemory{"hipErrorOutOfMemory", "cudaErrorMemoryAllocation",
                                                       "CUDA_ERROR_OUT_OF_MEMORY"};
// Other signals are the usual ways to end a program.
constexpr std::array kCrashes{SIGILL, SIGTRAP, SIGABRT, SIGBUS,  SIGFPE, SIGSEGV,
                              SIGSYS, SIGKILL, SIGQUIT, SIGXCPU, SIGXFSZ};

std::string place(const std::string& line) { return line.empty() ? std::string() : ", at " + line; }

std::string origin(const Postmortem& what) {
  if (what.cause == "oom") return " (the kernel's out-of-memory killer)";
  if (what.cause == "oom?") return " (probably the kernel's out-of-memory killer)";
  if (what.cause == "stack") return " (its stack is full)";
  return what.sender_name.empty() ? std::string() : fmt::format(" (sent by {}, pid {})", what.sender_name, what.sender);
}

}  // namespace

void Announcer::read(const Batch& batch) {
  std::size_t next = 0;
  const std::span<const std::byte> payload(batch.payload);
  for (std::size_t i = 0; i <= batch.calls.size(); ++i) {
    for (; next < batch.notices.size() && batch.notices[next].before_call <= i; ++next) on(batch.notices[next].notice);
    if (i == batch.calls.size()) break;
    const CallRecord& record = batch.calls[i];
    if ((record.flags & kFailed) || !hangs_.empty())
      look_at(record, payload.subspan(record.payload_at, record.payload_size));
  }
  tell_complete();
}

void Announcer::on(const Notice& notice) {
  names_.on(notice);
  if (const auto* what = std::get_if<Postmortem>(&notice)) begin(*what);
  if (const auto* seen = std::get_if<ThreadSeen>(&notice)) add(*seen);
  if (const auto* gone = std::get_if<ProcessEnded>(&notice)) end(gone->process);
  const auto* change = std::get_if<Lifecycle>(&notice);
  if (change && failures_ == Failures::FirstOfEachKind) engine_changed(*change);
}

// The detail is the function's name, or begins with it and a colon.
void Announcer::engine_changed(const Lifecycle& change) {
  constexpr std::pair<std::string_view, std::string_view> kChanges[] = {
      {"tapped", "{1}: {0} is called {2} times a second: no stops from now on"},
      {"not tapped", "{1}: {0} is called {2} times a second, and stops at each call: {3}"},
      {"untapped", "{1}: {0} stops at each call again: {3}"}};
  const auto kind = std::ranges::find(kChanges, change.kind, &std::pair<std::string_view, std::string_view>::first);
  if (kind == std::end(kChanges)) return;
  const std::string::size_type colon = change.detail.find(": ");
  const std::string name = change.detail.substr(0, colon);
  const std::string why = colon == std::string::npos ? std::string() : change.detail.substr(colon + 2);
  say_(fmt::format(fmt::runtime(kind->second), name, names_.process(change.process).label, change.value, why));
}

void Announcer::end(ProcessId process) {
  std::erase_if(hangs_, [&](const auto& hang) { return hang.second.process == process; });
  for (auto& [id, moment] : moments_) moment.is_complete |= moment.what.process == process;
}

// ---------------------------------------------------------------- moments: a process hangs, or dies
// A report with the same number adds facts to the same moment.
void Announcer::begin(const Postmortem& what) {
  const bool is_hang = what.kind == Postmortem::Kind::Hang;
  const bool is_crash =
      what.kind == Postmortem::Kind::Signal && std::ranges::find(kCrashes, what.signal) != kCrashes.end();
  if ((!is_hang && !is_crash) || moments_.size() >= kMostMoments) return;
  moments_[what.postmortem].what = what;
}

Announcer::Witness Announcer::witness_of(const Postmortem& what, const ThreadSeen& seen) const {
  Witness out{.worth = 0, .line = names_.line_of(seen.stack)};
  if (!seen.earlier.empty()) out.call = seen.earlier.back();
  if (!seen.calls.empty()) {
    const CallRecord& call = seen.calls.back().record;
    const FunctionNames function = names_.function(call.function);
    out.call = function.probe ? function.probe->symbol : std::string();
    out.id = call.id;
    out.since = call.entry_ns;
  }
  const ThreadNames thread = names_.thread(seen.thread);
  const bool is_main = thread.tid == leader_of(names_.process(thread.process).pid);
  out.worth = (seen.thread == what.thread ? 8 : 0) + (out.call.empty() ? 0 : 4) + (out.line.empty() ? 0 : 2) +
              (is_main ? 1 : 0);
  return out;
}

void Announcer::add(const ThreadSeen& seen) {
  const auto found = moments_.find(seen.postmortem);
  if (found == moments_.end()) return;
  Moment& moment = found->second;
  Witness witness = witness_of(moment.what, seen);
  if (witness.worth > moment.witness.worth) moment.witness = std::move(witness);
  const bool hangs = moment.what.kind == Postmortem::Kind::Hang;
  moment.is_complete |= hangs ? !moment.witness.call.empty() : seen.thread == moment.what.thread;
}

// Called at the end of a batch: the threads of one moment arrive together.
void Announcer::tell_complete() {
  std::vector<PostmortemId> complete;
  for (const auto& [id, moment] : moments_)
    if (moment.is_complete) complete.push_back(id);
  std::ranges::sort(complete);
  for (const PostmortemId id : complete) tell(moments_.extract(id).mapped());
}

void Announcer::tell(const Moment& moment) {
  const bool hangs = moment.what.kind == Postmortem::Kind::Hang;
  if (hangs && moment.witness.call.empty()) return;
  if (!is_first(moment.what.process, hangs ? Kind::Hang : Kind::Death)) return;
  hangs ? tell_hang(moment) : tell_death(moment);
}

void Announcer::tell_hang(const Moment& moment) {
  const Witness& witness = moment.witness;
  const std::string who = names_.process(moment.what.process).label;
  if (witness.id == 0) {
    say_(fmt::format("{} has been in {} for more than {}{}", who, witness.call,
                     human_duration(moment.what.quiet_ns, false), place(witness.line)));
    return;
  }
  hangs_[witness.id] = {witness.call, witness.since, moment.what.process};
  say_(fmt::format("{} has been in {} for {}{}", who, witness.call,
                   human_duration(moment.what.at - witness.since, false), place(witness.line)));
}

void Announcer::tell_death(const Moment& moment) {
  const Witness& witness = moment.witness;
  const std::string in = witness.call.empty() ? std::string() : " in " + witness.call;
  say_(fmt::format("{} died of {}{}{}{}", names_.process(moment.what.process).label, signal_name(moment.what.signal),
                   origin(moment.what), in, place(witness.line)));
}

// ---------------------------------------------------------------- calls
void Announcer::look_at(const CallRecord& record, probes::Payload payload) {
  end_of_hang(record);
  if (!(record.flags & kFailed) || (record.flags & kInjected)) return;
  const FunctionNames function = names_.function(record.function);
  if (!function.probe || function.probe->result.cls != probes::TypeClass::Enum) return;
  const std::string result = probes::result_text(*function.probe, record.result, function.library_major);
  if (!out_of_memory(record, function, result, payload) && failures_ == Failures::FirstOfEachKind)
    failure(record, function, result);
}

// Some results are an answer (an attribute that a device does not have), so the sentence says what came, not that it is
// wrong.
void Announcer::failure(const CallRecord& record, const FunctionNames& function, const std::string& result) {
  if (failed_.size() >= kMostFailures || !failed_.emplace(function.probe->symbol, result).second) return;
  say_(fmt::format("{}: {} returned {} for the first time{}",
                   names_.process(names_.thread(record.thread).process).label, function.probe->symbol, result,
                   place(names_.line_of(record.stack))));
}

void Announcer::end_of_hang(const CallRecord& record) {
  const auto node = hangs_.extract(record.id);
  if (!node || !(record.flags & kReturned)) return;
  const Hang& hang = node.mapped();
  if (!is_first(hang.process, Kind::HangEnded)) return;
  say_(fmt::format("{}: {} returned after {}", names_.process(hang.process).label, hang.call,
                   human_duration(record.exit_ns - hang.since, false)));
}

bool Announcer::out_of_memory(const CallRecord& record, const FunctionNames& function, const std::string& result,
                              probes::Payload payload) {
  if (std::ranges::find(kOutOfMemory, result) == kOutOfMemory.end()) return false;
  const ProcessId process = names_.thread(record.thread).process;
  if (!is_first(process, Kind::OutOfMemory)) return true;
  const auto bytes = probes::byte_count(*function.probe, record, payload);
  say_(fmt::format("{} is out of memory: {}{} = {}{}", names_.process(process).label, function.probe->symbol,
                   bytes ? " of " + human_bytes(static_cast<std::int64_t>(*bytes)) : std::string(), result,
                   place(names_.line_of(record.stack))));
  return true;
}

}  // namespace fade::live
