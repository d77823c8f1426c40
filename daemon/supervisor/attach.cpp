#include "supervisor/attach.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "base/human.hpp"
#include "base/log.hpp"
#include "base/own_memory.hpp"
#include "proc/processes.hpp"
#include "session/process_facts.hpp"
#include "session/session.hpp"
#include "supervisor/budget.hpp"
#include "supervisor/coverage_plan.hpp"
#include "supervisor/hidden_devices.hpp"
#include "supervisor/ignored_signals.hpp"
#include "supervisor/kfd_topology.hpp"
#include "supervisor/permission.hpp"
#include "supervisor/preparation.hpp"
#include "supervisor/recording.hpp"

namespace fade {
namespace {

constexpr std::size_t kShownInFlight = 4;
constexpr std::int64_t kTickPeriod = 1'000'000'000;

bool is_of_preset(const probes::Rule& rule) { return rule.origin.starts_with(kOfPreset); }

// The option that its rules came from.
std::string source_of(const probes::Overrides& overrides) {
  const bool is_preset = !overrides.empty() && std::ranges::all_of(overrides.rules(), is_of_preset);
  return is_preset ? overrides.rules().front().origin : "--set";
}

bool is_a_refusal(int code) { return code == EPERM || code == EACCES || code == ESRCH; }

class Attachment {
 public:
  Attachment(const AttachOptions& options, const probes::Overrides& overrides, AttachObserver& observer,
             Coverage coverage)
      : options_(options),
        overrides_(overrides),
        recording_(options, overrides, std::move(coverage)),
        observer_(observer) {}

  Result<AttachOutcome> execute(SessionOptions session);

 private:
  Result<void> come(Session& session);
  Result<void> with_all(Session& session, Result<void> (Session::*step)(Pid));
  void find_cached(Session& session);
  std::string cached_sentence(const Session& session) const;
  Attached arrived(const Session& session) const;
  void loop(Session& session);
  bool is_asked_to_leave();
  bool wants_to_stay(std::int64_t now);
  void tell(std::int64_t now);
  LiveNumbers numbers(std::int64_t now) const;

  const AttachOptions& options_;
  const probes::Overrides& overrides_;
  Recording recording_;
  AttachObserver& observer_;
  std::vector<std::string> command_;
  std::int64_t last_tick_ = 0;
  bool leave_wished_ = false;  // during the search for copies
};

// --set reaches calls. So a search shows, by itself, what the program keeps from earlier calls.
CachedWish cached_wish(const AttachOptions& options, const probes::Overrides& overrides) {
  CachedWish out{.change = options.set_cached};
  out.find = options.find_cached || out.change || (!overrides.empty() && !options.snapshot);
  if (!out.find) return out;
  const KfdTopology topology = KfdReader(options.sysfs_root).read();
  out.has_one_gpu = std::ranges::count_if(topology.nodes, &KfdNode::gpu) == 1;
  return out;
}

// A member of a tree may end while we come; the process that was named may not.
Result<void> Attachment::with_all(Session& session, Result<void> (Session::*step)(Pid)) {
  for (const Pid pid : options_.pids) {
    auto done = (session.*step)(pid);
    if (done || (done.error().code == ESRCH && pid != options_.pids.front())) continue;
    Error error = std::move(done.error());
    return tl::unexpected(is_a_refusal(error.code) ? explain_refusal(pid, std::move(error), "fade-attach")
                                                   : std::move(error));
  }
  return {};
}

// Said before, because nothing can say it afterwards.
void Attachment::find_cached(Session& session) {
  if (options_.set_cached)
    log::info(
        "--set-cached changes copies of device properties in the program's memory now, and puts them back on detach. "
        "If fade is killed (kill -9), they keep the changed values");
  session.leave_when([this] { return leave_wished_ = leave_wished_ || is_asked_to_leave(); });
  session.find_cached();
  session.leave_when({});
}

std::string Attachment::cached_sentence(const Session& session) const {
  const CachedCopies::Totals& seen = session.cached();
  if (seen.searched == 0) return {};
  const std::string limit = seen.limit.empty() ? "" : fmt::format("; the search ended at its limit of {}", seen.limit);
  const auto copies = [](std::uint64_t n) { return fmt::format("{} {}", n, n == 1 ? "copy" : "copies"); };
  if (seen.copies == 0)
    return fmt::format(
        "no copy of device properties was found in the program's memory ({} searched{}). What it keeps in another form "
        "is not changed by {}",
        human_bytes(static_cast<std::int64_t>(seen.searched)), limit, source_of(overrides_));
  const std::string holds = fmt::format("the program holds {} of device properties", copies(seen.copies));
  if (overrides_.empty()) return fmt::format("{} (fade-query cached{})", holds, limit);
  if (seen.changed == seen.differ && seen.changed > 0)
    return fmt::format("{}; fade changed {} (fade-query cached{})", holds, seen.changed, limit);
  if (seen.differ == 0)
    return fmt::format("{}; none differs from {} (fade-query cached{})", holds, source_of(overrides_), limit);
  return fmt::format("{}. {} that {} does not reach {} as before (fade-query cached{}){}", holds,
                     copies(seen.differ - seen.changed), source_of(overrides_),
                     seen.differ - seen.changed == 1 ? "stays" : "stay", limit,
                     options_.set_cached ? "" : "; --set-cached changes copies");
}

Attached Attachment::arrived(const Session& session) const {
  Attached out{.pid = options_.pids.front(),
               .program = command_[0],
               .database = recording_.database(),
               .holds = session.attach_holds(),
               .notes = {}};
  const auto libraries = session.totals().libraries;
  if (libraries.empty()) {
    out.notes.push_back("no HIP library is loaded yet; recording starts when one is loaded");
  } else {
    out.notes.push_back("calls made before now are not in the recording; memory allocated before is of unknown origin");
  }
  if (const std::string cached = cached_sentence(session); !cached.empty()) out.notes.push_back(cached);
  const auto& in_flight = session.calls_in_flight();
  for (std::size_t i = 0; i < std::min(in_flight.size(), kShownInFlight); ++i)
    out.notes.push_back("a call was under way already: " + in_flight[i]);
  if (in_flight.size() > kShownInFlight)
    out.notes.push_back(fmt::format("and {} more calls (fade-query lifecycle)", in_flight.size() - kShownInFlight));
  return out;
}

bool Attachment::is_asked_to_leave() {
  using Wish = AttachObserver::Wish;
  const Wish wish = observer_.wish();
  if (wish == Wish::Pause || wish == Wish::Resume) recording_.pause(wish == Wish::Pause);
  if (wish == Wish::Mark) recording_.mark();
  return wish == Wish::Detach;
}

bool Attachment::wants_to_stay(std::int64_t now) {
  return !leave_wished_ && !is_asked_to_leave() && !recording_.runs_short() && !recording_.window_is_over(now);
}

void Attachment::tell(std::int64_t now) {
  if (now - last_tick_ < kTickPeriod) return;
  last_tick_ = now;
  observer_.tick(numbers(now));
}

LiveNumbers Attachment::numbers(std::int64_t now) const {
  store::LiveTotals live = recording_.live();
  return {.elapsed_ns = now,
          .calls = live.calls,
          .errors = live.errors,
          .dropped = live.dropped,
          .memory_bytes = live.memory_bytes,
          .peak_bytes = live.peak_bytes,
          .database_bytes = live.database_bytes,
          .launches = live.launches,
          .gpu_busy_ns = live.gpu_busy_ns,
          .gpus = std::move(live.gpus)};
}

void Attachment::loop(Session& session) {
  std::int64_t last_wish = 0;
  constexpr std::int64_t kWishPeriod = 20'000'000;
  while (!session.empty()) {
    const Stop stop = session.next();
    if (stop.kind == Stop::Kind::Gone) return;
    const std::int64_t now = stop.kind != Stop::Kind::None ? session.handle(stop) : recording_.clock().now();
    recording_.now_and_then(session, now);
    tell(now);
    if (now - last_wish < kWishPeriod) continue;
    last_wish = now;
    if (!wants_to_stay(now)) return;
  }
}

// No file is touched before it is sure that the processes may be traced, and they are not watched before there is a
// file.
Result<void> Attachment::come(Session& session) {
  session.leave_when([this] { return is_asked_to_leave(); });
  Result<void> come = with_all(session, &Session::seize);
  if (come) come = recording_.open("attach", command_, options_.pids.front());
  const bool has_file = come.has_value();
  if (come) come = with_all(session, &Session::watch);
  session.leave_when({});
  if (come) return come;
  session.let_go();
  if (has_file) recording_.discard();
  return come;
}

Result<AttachOutcome> Attachment::execute(SessionOptions session_options) {
  for (const int signal : kIgnoredSignals) ::signal(signal, SIG_IGN);
  if (auto enough = own_memory::check(); !enough) return tl::unexpected(std::move(enough.error()));
  const Pid first = options_.pids.front();
  command_ = read_process_facts(first).command;
  if (command_.empty()) command_ = {read_thread_name(leader_of(first))};
  auto tracer = Tracer::create(recording_.tick());
  if (!tracer) return tl::unexpected(std::move(tracer.error()));
  Session session(*tracer, recording_.sink(), recording_.clock(), overrides_, std::move(session_options));
  recording_.begin(session, *tracer);
  if (auto come = this->come(session); !come) return tl::unexpected(std::move(come.error()));
  find_cached(session);
  observer_.attached(arrived(session));
  if (options_.snapshot) session.take_snapshot();
  else loop(session);
  AttachOutcome out{.ran_short = recording_.runs_short(), .ended = session.empty()};
  session.let_go();
  out.detach_holds = session.detach_holds();
  out.bytes_differing = session.bytes_left_changed();
  out.summary = recording_.finish(session);
  return out;
}

}  // namespace

Result<AttachOutcome> attach(const AttachOptions& options, AttachObserver& observer) {
  const auto overrides = read_rules(options);
  if (!overrides) return tl::unexpected(overrides.error());
  const auto chosen = choose_probes(options);
  if (!chosen) return tl::unexpected(chosen.error());
  if (auto checked = check_nothing_is_hidden(chosen->injections); !checked)
    return tl::unexpected(std::move(checked.error()));
  auto session = session_options(options, *chosen, *overrides);
  if (!session) return tl::unexpected(std::move(session.error()));
  const auto engine = engine_for(options.engine, CaptureEngine::Breakpoints, session->budget);
  if (!engine) return tl::unexpected(engine.error());
  session->engine = *engine;
  if (options.set_cached && overrides->empty())
    return fail("--set-cached: there is no rule", {}, "add --set 'device.*.FIELD=VALUE'", EINVAL);
  session->cached = cached_wish(options, *overrides);
  if (options.pids.empty()) return fail("no process to attach to", {}, {}, EINVAL);
  return Attachment(options, *overrides, observer, coverage_of(options, *chosen, session->wishes))
      .execute(std::move(*session));
}

}  // namespace fade
