#include "cli/ctl/options.hpp"

#include <algorithm>
#include <array>

#include "cli/ctl/command.hpp"
#include "cli/handover/handover.hpp"

namespace fade::cli::ctl {
namespace {

// Of fade-attach's rows those that the daemon takes over: none that names a file, because it cannot read as its client.
constexpr auto kShared = std::to_array<std::string_view>({"max-size",
                                                          "engine",
                                                          "on-full",
                                                          "events",
                                                          "detail",
                                                          "duration",
                                                          "delay",
                                                          "include",
                                                          "exclude",
                                                          "kernel-include-regex",
                                                          "kernel-exclude-regex",
                                                          "follow",
                                                          "only-rank",
                                                          "step",
                                                          "schedule",
                                                          "window",
                                                          "trigger",
                                                          "keep",
                                                          "watch-numbers",
                                                          "check",
                                                          "set",
                                                          "inject",
                                                          "replace",
                                                          "replace-dry",
                                                          "seed",
                                                          "probe",
                                                          "stacks",
                                                          "stack-depth",
                                                          "native-stacks",
                                                          "python-stacks"});

std::vector<Named> known_words() {
  std::vector<Named> words;
  for (const Command& command : commands()) words.push_back({command.name, command.help});
  return words;
}

}  // namespace

const Program& program() {
  static const Program kProgram{
      .name = "fadectl",
      .section = "ctl",
      .environment = "FADECTL_OPTIONS",
      .usage = "COMMAND [OPTIONS] [ARGS...]",
      .about = "Ask the daemon faded to record programs, and what it records.",
      .examples = {{"fadectl attach 4242", "record process 4242 until: fadectl stop ID"},
                   {"fadectl run -- python3 train.py", "run a program; its recording survives this terminal"},
                   {"fadectl watch add --exe python3", "record every python3 that loads HIP"},
                   {"fadectl list --json", "what is recorded, for another program"}},
      .words = Words::Any,
      .words_title = "Commands",
      .known_words = known_words()};
  return kProgram;
}

std::vector<Option> rows(Settings& s) {
  const std::string_view daemon = "Daemon", watch = "Programs to watch for", prune = "What prune may remove";
  std::vector<Option> rows{
      {daemon, "--socket", "PATH", "ask the daemon that listens here [/run/fade/faded.sock, or your own]",
       Text{&s.socket}, Shown::Help, Completes::File},
      {daemon, "--json", "", "print what the daemon answered", Flag{&s.json}, Shown::Help},
      {daemon, "--all", "", "stop: all sessions that are yours", Flag{&s.all}, Shown::Help},
      {watch, "--exe", "REGEX", "watch: programs whose path matches", Text{&s.exe}, Shown::Help},
      {watch, "--cgroup", "PATTERN", "watch: programs in such a cgroup, with * and ?", Text{&s.cgroup}},
      {watch, "--uid", "UID", "watch: programs of this user [root: of all]", Number{&s.uid, 0, 0xffff'fffe}},
      {prune, "--older", "TIME", "recordings that ended TIME ago or earlier: 30d", Time{&s.older_ns}, Shown::Help},
      {prune, "--keep-bytes", "SIZE", "the oldest, until at most SIZE is left: 50G", Size{&s.keep_text}, Shown::Help},
      {recording::kProcesses, "--tree", "", "attach: with all descendants that run already", Flag{&s.tree}},
  };
  for (Option& row : recording::rows(s.unused, s.recording, {.summary = "", .duration = "detach after TIME"}))
    if (std::ranges::find(kShared, key(row)) != kShared.end()) rows.push_back(std::move(row));
  for (Option& row : recording::cached_rows(s.recording)) rows.push_back(std::move(row));
  return rows;
}

Result<void> finish(Settings& s) {
  if (s.keep_text != Settings::kNotSaid) s.keep_bytes = s.keep_text;
  return recording::finish(s.unused, s.recording, nullptr);
}

ipc::Json recording_json(const Settings& s) { return handover::recording_json(s.recording, s.tree); }

}  // namespace fade::cli::ctl
