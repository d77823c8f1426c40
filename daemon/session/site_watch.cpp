#include "session/site_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "session/site_use.hpp"

namespace fade {
namespace {

constexpr std::int64_t kMostForALook = 5'000'000;  // ns of every 100 ms

using Instead = VanishedSite::Instead;

constexpr std::size_t kMostNamed = 3;

// Generated code is written again all the time. The next call from there looks at its return itself
// (BreakpointCapture).
bool is_generated(const Program& program, const Site& site) {
  if (!SiteUse::of(site).is_return()) return false;
  const auto it = program.call_sites.find(site.address);
  return it != program.call_sites.end() && it->second.changeable;
}

const char* name_of_guard(Guard guard) {
  constexpr const char* kGuardNames[] = {"", "sigaction", "pthread_sigmask", "the loader's list of libraries",
                                         "syscall"};
  return kGuardNames[static_cast<std::size_t>(guard)];
}

std::string seconds(std::int64_t ns) { return fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9); }

std::string counted(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace

// Breakpoints that share their fate.
struct SiteWatch::Lost {
  std::vector<std::string> functions;
  std::size_t returns = 0;  // places that calls return to
  std::int64_t since = 0;   // the earliest time at which one was seen last

  std::size_t size() const { return functions.size() + returns; }
  void add(std::string function, std::int64_t in_place) {
    since = size() == 0 ? in_place : std::min(since, in_place);
    if (function.empty()) ++returns;
    else functions.push_back(std::move(function));
  }
  std::string names() const {
    std::vector<std::string> named = functions;
    std::stable_partition(named.begin(), named.end(),
                          [](const std::string& name) { return !name.starts_with('_'); });  // readable ones
    named.resize(std::min(named.size(), kMostNamed));
    std::string out = fmt::format("{}", fmt::join(named, ", "));
    if (functions.size() > named.size()) out += fmt::format(" and {} more", functions.size() - named.size());
    if (returns > 0)
      out +=
          fmt::format("{}{} that calls return to", functions.empty() ? "" : "; ", counted(returns, "place", "places"));
    return out;
  }
};

std::string SiteWatch::name_of(const Site& site) const {
  const SiteUse use = SiteUse::of(site);
  if (use.entry == 0) return use.call_site != 0 ? "" : name_of_guard(site.guard);
  const auto& probe = functions_[use.entry].probe;
  return probe ? probe->symbol : name_of_guard(site.guard);
}

std::vector<SiteWatch::Vanished> SiteWatch::look(Program& program) const {
  SiteLooks& looks = program.site_looks;
  const std::int64_t now = clock_.now(), before = looks.last;
  std::unordered_map<RemoteAddr, std::int64_t> doubtful;
  std::vector<Vanished> out;
  for (const VanishedSite& one : program.space->vanished().all()) {
    const Site* const site = program.space->find(one.address);
    if (!site || is_generated(program, *site)) continue;
    const auto known = looks.doubtful.find(one.address);
    const std::int64_t in_place =
        known == looks.doubtful.end() ? std::max(before, site->armed_at - clock_.boot_ns) : known->second;
    if (one.instead == Instead::Original || known != looks.doubtful.end()) out.push_back({one, in_place});
    else doubtful.emplace(one.address, in_place);
  }
  looks.doubtful = std::move(doubtful);
  looks.last = now;
  return out;
}

void SiteWatch::mend(Program& program, ProcessId process, const std::vector<Vanished>& vanished, Tid stopped) {
  Lost again, replaced, unmapped, contested;
  for (const auto& [one, in_place] : vanished) {
    const Site* const site = program.space->find(one.address);
    if (!site) continue;
    const std::string name = name_of(*site);
    if (one.instead != Instead::Original) {
      program.space->vanished().drop(one.address, stopped);
      (one.instead == Instead::Other ? replaced : unmapped).add(name, in_place);
    } else if (const auto done = program.space->vanished().repair(one.address, stopped);
               !done || *done == VanishedSites::Repair::Done) {
      (done ? again : contested).add(name, in_place);
    }
  }
  tell(process, again, "the program took them out, and they stand again", true);
  tell(process, replaced, "the program has put other code there", false);
  tell(process, unmapped, "the program has unmapped their memory", false);
  tell(process, contested, "the program took them out, and they cannot be set again", false);
}

// `is_over`: the calls are seen again.
void SiteWatch::tell(ProcessId process, const Lost& lost, const std::string& what_became, bool is_over) {
  if (lost.size() == 0) return;
  const std::int64_t now = clock_.now();
  (is_over ? set_again_ : given_up_) += lost.size();
  const char* const missing = lost.functions.empty() ? "results of calls" : "calls";
  const std::string window = is_over ? fmt::format("from {} to {}", seconds(lost.since), seconds(now))
                                     : fmt::format("after {}", seconds(lost.since));
  sink_.notice(
      Lifecycle{now, process, 0, "vanished", static_cast<std::int64_t>(lost.size()),
                fmt::format("{} ({}): {}; {} {} were not recorded", counted(lost.size(), "breakpoint", "breakpoints"),
                            lost.names(), what_became, missing, window)});
}

std::vector<std::string> SiteWatch::notes() const {
  if (vanished() == 0) return {};
  return {
      fmt::format("the program took out breakpoints: {} set again, {} given up; calls are missing (fade-query "
                  "lifecycle says which and when)",
                  set_again_, given_up_)};
}

// The programs that are due, the longest due first. Processes that share one memory count once.
std::vector<ProgramMark> SiteWatch::due(const Roster& roster) const {
  std::vector<const Inferior*> found;
  for (const auto& [pid, inferior] : roster.processes())
    if (inferior->watched && !inferior->is_fresh_copy && !inferior->is_guest && is_due(*inferior->program))
      found.push_back(inferior.get());
  std::ranges::sort(found, {}, [](const Inferior* inferior) { return inferior->program->site_looks.last; });
  std::vector<ProgramMark> out;
  std::ranges::transform(found, std::back_inserter(out), [](const Inferior* inferior) { return inferior->mark(); });
  return out;
}

// Stops of other threads wait meanwhile. So a look that takes long ends early, and the next look goes on.
void SiteWatch::look_after(const Roster& roster, Rendezvous& rendezvous, HoldClock& holds) {
  const std::int64_t end = clock_.now() + kMostForALook;
  for (const ProgramMark& mark : due(roster))
    if (!look_after(mark, roster, rendezvous, holds) || clock_.now() > end) return;
}

// False: a thread had to be stopped, and stops were handled meanwhile.
bool SiteWatch::look_after(ProgramMark mark, const Roster& roster, Rendezvous& rendezvous, HoldClock& holds) {
  if (!roster.still_runs(mark)) return true;
  Inferior& inferior = *roster.process(mark.pid);
  const std::shared_ptr<Program> program = inferior.program;
  if (!is_due(*program)) return true;
  const auto vanished = look(*program);
  if (vanished.empty()) return true;
  if (program->space->memory().writes_without_stop()) {
    mend(*program, mark.process, vanished, kNobody);
    return true;
  }
  (void)rendezvous.with_guide(
      inferior,
      [&](Thread& guide) {
        if (roster.still_runs(mark)) mend(*program, mark.process, vanished, guide.tid);
        return Result<void>();
      },
      holds);
  return false;
}

}  // namespace fade
