#include "service/session_record.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/glob.hpp"
#include "base/result.hpp"

namespace fade::service {
namespace {

using ipc::Json;

constexpr std::array<const char*, 8> kStates{"attaching", "recording", "paused", "stopping",
                                             "ended",     "failed",    "lost",   "unknown"};

constexpr std::array kCounts{"elapsed_ns",   "calls",      "calls_per_second", "errors",   "dropped",
                             "memory_bytes", "peak_bytes", "database_bytes",   "launches", "gpu_busy_ns"};

template <class Number>
void take(const Json& json, const char* key, Number& into) {
  if (const auto value = ipc::integer(json, key)) into = static_cast<Number>(*value);
}
void take(const Json& json, const char* key, Pid& into) {
  if (const auto value = ipc::integer(json, key)) into = Pid::of(static_cast<pid_t>(*value));
}
void take(const Json& json, const char* key, std::string& into) {
  if (auto value = ipc::text(json, key)) into = std::move(*value);
}

void take_counts(const Json& json, SessionRecord& record) {
  take(json, "elapsed_ns", record.elapsed_ns);
  take(json, "calls", record.calls);
  take(json, "errors", record.errors);
  take(json, "dropped", record.dropped);
  take(json, "memory_bytes", record.memory_bytes);
  take(json, "peak_bytes", record.peak_bytes);
  take(json, "database_bytes", record.database_bytes);
  take(json, "launches", record.launches);
  take(json, "gpu_busy_ns", record.gpu_busy_ns);
}

constexpr std::size_t kMostGpus = 64;  // that a worker may name

void take_gpus(const Json& report, SessionRecord& record) {
  const Json* gpus = ipc::member(report, "gpus");
  if (gpus == nullptr || !gpus->is_array()) return;
  record.gpus.clear();
  for (const Json& one : *gpus)
    if (const auto node = ipc::integer(one, "node"); node && record.gpus.size() < kMostGpus)
      record.gpus.push_back({*node, ipc::integer(one, "busy_percent"), ipc::integer(one, "memory_bytes")});
}

void take_tick(const Json& report, SessionRecord& record) {
  const std::uint64_t calls = record.calls;
  const std::int64_t elapsed = record.elapsed_ns;
  take_counts(report, record);
  take_gpus(report, record);
  const std::int64_t passed = record.elapsed_ns - elapsed;
  if (passed <= 0 || record.calls < calls) return;
  record.calls_per_second =
      static_cast<std::uint64_t>(static_cast<double>(record.calls - calls) * 1e9 / static_cast<double>(passed));
}

void take_attached(const Json& report, SessionRecord& record) {
  if (record.state == State::Attaching) record.state = State::Recording;
  if (const auto program = ipc::text(report, "program"); program && record.via != "run")  // else it is still fadectl
    record.program = base_name(*program);
  if (const Json* holds = ipc::member(report, "holds")) {
    take(*holds, "threads", record.threads);
    take(*holds, "median_ns", record.held_median_ns);
    take(*holds, "worst_ns", record.held_worst_ns);
  }
  if (auto notes = ipc::texts(report, "notes")) record.notes = std::move(*notes);
}

// State and time change together: whoever asks before the worker has gone is told of one end.
void end(SessionRecord& record, State state) {
  record.state = state;
  record.until_ns = realtime_ns();
}

void take_ended(const Json& report, SessionRecord& record) {
  take_counts(report, record);
  take(report, "duration_ns", record.elapsed_ns);
  end(record, State::Ended);
  const auto at = ipc::integer(report, "at_ns");
  if (at && *at > record.since_ns && *at < record.until_ns) record.until_ns = *at;  // told later than it was
  record.calls_per_second = 0;
  record.ending = ipc::boolean(report, "ended").value_or(false) ? "the program ended" : "detached";
  if (const auto differing = ipc::natural(report, "bytes_differing"); differing && *differing > 0)
    record.ending += fmt::format("; {} bytes of the program were not restored", *differing);
}

}  // namespace

const char* state_word(State state) { return kStates[static_cast<std::size_t>(state)]; }

std::optional<State> state_from(const std::string& word) {
  const auto found = std::ranges::find(kStates, word);
  return found == kStates.end() ? std::nullopt : std::optional(static_cast<State>(found - kStates.begin()));
}

Json to_json(const SessionRecord& r) {
  Json json{{"id", r.id},
            {"uid", r.uid},
            {"gid", r.gid},
            {"via", r.via},
            {"state", state_word(r.state)},
            {"pid", r.pid.value()},
            {"start_ticks", r.start_ticks},
            {"program", r.program},
            {"folder", r.folder},
            {"database", r.database},
            {"since_ns", r.since_ns},
            {"until_ns", r.until_ns},
            {"worker", r.worker.value()},
            {"worker_start_ticks", r.worker_start_ticks},
            {"elapsed_ns", r.elapsed_ns},
            {"calls", r.calls},
            {"calls_per_second", r.calls_per_second},
            {"errors", r.errors},
            {"dropped", r.dropped},
            {"memory_bytes", r.memory_bytes},
            {"peak_bytes", r.peak_bytes},
            {"database_bytes", r.database_bytes},
            {"launches", r.launches},
            {"gpu_busy_ns", r.gpu_busy_ns},
            {"threads", r.threads},
            {"held_median_ns", r.held_median_ns},
            {"held_worst_ns", r.held_worst_ns},
            {"notes", r.notes},
            {"ending", r.ending}};
  if (r.state == State::Unknown)
    for (const char* count : kCounts) json.erase(count);
  return json;
}

std::optional<SessionRecord> record_from(const Json& json) {
  SessionRecord r;
  const auto state = state_from(ipc::text(json, "state").value_or(""));
  take(json, "id", r.id);
  if (!state || r.id == 0 || !ipc::integer(json, "uid")) return {};
  r.state = *state;
  take(json, "uid", r.uid);
  take(json, "gid", r.gid);
  take(json, "via", r.via);
  take(json, "pid", r.pid);
  take(json, "start_ticks", r.start_ticks);
  take(json, "folder", r.folder);
  take(json, "database", r.database);
  take(json, "since_ns", r.since_ns);
  take(json, "until_ns", r.until_ns);
  take(json, "worker", r.worker);
  take(json, "worker_start_ticks", r.worker_start_ticks);
  take(json, "ending", r.ending);
  take_counts(json, r);
  take(json, "program", r.program);
  take(json, "threads", r.threads);
  take(json, "held_median_ns", r.held_median_ns);
  take(json, "held_worst_ns", r.held_worst_ns);
  if (auto notes = ipc::texts(json, "notes")) r.notes = std::move(*notes);
  return r;
}

bool take_report(SessionRecord& record, const Json& report) {
  const std::string event = ipc::text(report, "event").value_or("");
  if (event == "attached") take_attached(report, record);
  else if (event == "tick") take_tick(report, record);
  else if (event == "ended") take_ended(report, record);
  else if (event == "failed") {
    end(record, State::Failed);
    const Error error{ipc::text(report, "message").value_or(""), ipc::text(report, "cause").value_or(""), {}, 0};
    record.ending = error.sentence();
  } else {
    return false;
  }
  return true;
}

}  // namespace fade::service
