#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/suggest.hpp"
#include "cli/ctl/command.hpp"

namespace fade::cli::ctl {
namespace {

struct OptionKind {
  unsigned use;
  const char* options;
  bool given;
};

// An option that is accepted and ignored misleads.
Result<void> check_uses(const Command& command, const Settings& s) {
  const OptionKind kinds[] = {
      {kRecording, "options of what to record", !recording_json(s).empty()},
      {kWatch, "--exe, --cgroup or --uid", !s.exe.empty() || !s.cgroup.empty() || s.uid.has_value()},
      {kPrune, "--older or --keep-bytes", s.older_ns || s.keep_bytes},
      {kAll, "--all", s.all}};
  for (const OptionKind& kind : kinds)
    if (kind.given && (command.uses & kind.use) == 0)
      return usage_error(fmt::format("{} takes no {}", command.name, kind.options));
  return {};
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      {"status", "the daemon: version, sessions, limits", show_status},
      {"list", "sessions, those that ended too", list_sessions},
      {"show", "ID: one session, with its notes", show_session},
      {"attach", "PID...: record running programs", attach_processes, kRecording},
      {"run", "-- COMMAND [ARGS...]: run a program here and record it", run_program, kRecording},
      {"stop", "ID... | --all: end sessions; their programs go on", stop_sessions, kAll},
      {"pause", "ID: do not record for a while", pause_session},
      {"resume", "ID: record again", resume_session},
      {"mark", "ID: a moment to look at, a trigger of --trigger mark", mark_session},
      {"watch", "add | list | rm ID: attach to programs by themselves", watch_programs, kRecording | kWatch},
      {"tail", "[ID]: what happens, as it happens", tail_sessions},
      {"prune", "remove old recordings", prune_recordings, kPrune},
      {"check", "[PID]: what would work, and why not", check_daemon},
      {"reload", "restart the daemon, as after an upgrade; sessions go on", reload_daemon},
  };
  return all;
}

Result<void> run_command(Context context, int& status) {
  if (context.words.empty()) return usage_error("no command given");
  const std::string name = context.words.front();
  const auto command = std::ranges::find(commands(), name, &Command::name);
  if (command == commands().end()) {
    std::vector<std::string> names;
    for (const Command& one : commands()) names.emplace_back(one.name);
    return usage_error(fmt::format("unknown command '{}'{}", name, did_you_mean(name, names)),
                       "fadectl --help      lists the commands");
  }
  if (auto checked = check_uses(*command, context.settings); !checked) return checked;
  context.words.erase(context.words.begin());
  const auto done = command->run(context);
  status = context.status;
  return done;
}

tl::unexpected<Error> usage_error(std::string message, std::string fix) {
  return fail(std::move(message), {}, std::move(fix), EINVAL);
}

Result<ipc::Client> connect(const Context& context) {
  return ipc::Client::connect(ipc::socket_path(context.settings.socket));
}

Result<ipc::Json> ask(const Context& context, const std::string& method, ipc::Json params) {
  auto client = connect(context);
  if (!client) return tl::unexpected(std::move(client.error()));
  return client->call(method, std::move(params));
}

Result<std::uint64_t> number_word(const std::string& word, std::string_view what) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number == 0)
    return usage_error(fmt::format("'{}' is not {}", word, what));
  return number;
}

}  // namespace fade::cli::ctl
