#include "cli/attach/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "cli/handover/handover.hpp"

namespace fade::cli::attach {
namespace {

constexpr std::string_view kTargets = "Processes to attach to";
constexpr std::int64_t kMostMilliseconds = std::numeric_limits<std::int64_t>::max() / 1'000'000;

Result<Pid> parse_pid(std::string_view word) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (error != std::errc{} || end != word.data() + word.size() || pid <= 0)
    return fail(fmt::format("'{}' is not a process id", word), {},
                fmt::format("by name: fade-attach --name '{}'", word));
  return Pid::of(pid);
}

// -p "$(pidof python3)" is one word with blanks between the numbers.
Result<void> take_pids(const std::vector<std::string>& words, std::vector<Pid>& pids) {
  for (const std::string& word : words)
    for (std::size_t at = 0; (at = word.find_first_not_of(" \t\n,", at)) != std::string::npos;) {
      const std::size_t end = std::min(word.find_first_of(" \t\n,", at), word.size());
      auto pid = parse_pid(std::string_view(word).substr(at, end - at));
      if (!pid) return tl::unexpected(std::move(pid.error()));
      pids.push_back(*pid);
      at = end;
    }
  return {};
}

bool names_processes(const TargetWish& wish) {
  return !wish.pids.empty() || !wish.name.empty() || !wish.pidfile.empty() || !wish.container.empty();
}

Result<void> check_snapshot(const Request& request) {
  const std::pair<bool, std::string_view> all[] = {{request.daemon, "--daemon"},
                                                   {request.check, "--check"},
                                                   {request.verdict, "--verdict"},
                                                   {request.page, "--page"},
                                                   {request.options.duration_ns.has_value(), "--duration"},
                                                   {request.options.delay_ns.has_value(), "--delay"},
                                                   {request.options.hang_ns.has_value(), "--hang-timeout"}};
  for (const auto& [given, option] : all)
    if (request.options.snapshot && given) return fail(fmt::format("--snapshot and {} exclude each other", option));
  return {};
}

Result<void> take_duration(Request& request) {
  if (!request.duration_msec) return {};
  if (request.options.duration_ns) return fail("--duration and --attach-duration-msec exclude each other");
  request.options.duration_ns = *request.duration_msec * 1'000'000;
  return {};
}

}  // namespace

const Program& program() {
  static const Program kProgram{
      .name = "fade-attach",
      .section = "attach",
      .environment = "FADE_ATTACH_OPTIONS",
      .usage = "[OPTIONS] PID...",
      .about = "Record the HIP calls of running programs, without disturbing them.",
      .examples = {{"fade-attach 4242", "record into fade-PROGRAM-4242.db, then: fade-query summary"},
                   {"fade-attach --check 4242", "say whether it would work, and why"},
                   {"fade-attach --snapshot 4242", "it seems to hang: what is it doing?"},
                   {"fade-attach --name 'torchrun.*train' --tree -d 5m", "a whole job, for five minutes"},
                   {"sudo fade-attach --container trainer -e mem,error", "the programs of a container, from the host"}},
      .words = Words::Any,
      .words_complete = Completes::Process,
      .components = recording::components()};
  return kProgram;
}

std::vector<Option> rows(Request& r) {
  TargetWish& t = r.targets;
  const Shown help = Shown::Help, all = Shown::HelpAll, hidden = Shown::Hidden;
  std::vector<Option> rows{
      {kTargets, "-p,--pid", "PID", "the same as PID without -p", Each{&r.pid_words}, all, Completes::Process},
      {kTargets, "--name", "REGEX", "programs whose name or command line matches", Text{&t.name}, help},
      {kTargets, "--pidfile", "FILE", "the process whose id is in FILE", Text{&t.pidfile}, all, Completes::File},
      {kTargets, "--container", "ID|NAME", "the processes of a container", Text{&t.container}, all},
      {kTargets, "--tree", "", "with all their descendants", Flag{&t.tree}, help},
      {kTargets, "--snapshot", "", "look once at what all threads are doing, print it, and leave",
       Flag{&r.options.snapshot}, all},
      {kTargets, "--check", "", "say whether it would work and why", Flag{&r.check}, help},
      {recording::kCapture, "--attach-duration-msec", "N", "--duration as rocprofv3 spells it, in milliseconds",
       Number{&r.duration_msec, 1, kMostMilliseconds}},
      {"Daemon", "--daemon", "", "let the daemon attach, then exit: fadectl stop ID detaches", Flag{&r.daemon}},
      {"Daemon", "--control", "FD", "report to and obey the daemon",
       Number{&r.control, 3, std::numeric_limits<int>::max()}, hidden},
      {"Daemon", "--typed", "WORD", "an option that the daemon's client gave, as it was typed", Each{&r.client_typed},
       hidden},
  };
  const auto first_of_recording = std::ranges::find(rows, recording::kCapture, &Option::group);
  auto shared = recording::rows(r, r.options,
                                {.summary = "print a summary on stderr at the end [on]",
                                 .duration = "detach after TIME",
                                 .check = "--check-products"});
  rows.insert(first_of_recording, std::move_iterator(shared.begin()), std::move_iterator(shared.end()));
  const auto behind_corrections =
      std::ranges::find(rows.rbegin(), rows.rend(), recording::kCorrect, &Option::group).base();
  auto cached = recording::cached_rows(r.options);
  rows.insert(behind_corrections, std::move_iterator(cached.begin()), std::move_iterator(cached.end()));
  return rows;
}

Result<void> finish(Request& request, const std::vector<std::string>& words, const char* default_output) {
  TargetWish& targets = request.targets;
  if (auto taken = take_pids(words, targets.pids); !taken) return taken;
  if (auto taken = take_pids(request.pid_words, targets.pids); !taken) return taken;
  if (!names_processes(targets) && !request.dry_run && !request.list_probes)
    return fail("no process given", {}, "fade-attach PID, or: fade-attach --name python3");
  if (auto checked = recording::check_pattern(targets.name, "name"); !checked) return checked;
  if (auto taken = take_duration(request); !taken) return taken;
  if (auto checked = check_snapshot(request); !checked) return checked;
  if (!request.daemon) return recording::finish(request, request.options, default_output);
  if (request.page)
    return fail("--daemon and --page exclude each other", {}, "fade-query page, when the recording has ended");
  if (auto finished = recording::finish(request, request.options, nullptr); !finished) return finished;
  return handover::check_options(request.options);
}

}  // namespace fade::cli::attach
