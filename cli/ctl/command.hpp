// The commands of fadectl. One row each; commands.cpp holds the only list of them.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/ctl/options.hpp"
#include "cli/options/color.hpp"
#include "ipc/client.hpp"

namespace fade::cli::ctl {

struct Context {
  const Settings& settings;
  std::vector<std::string> words;  // behind the command's name
  ColorWish color = ColorWish::Auto;
  int status = 0;  // to end with where nothing failed
};

// Kinds of options besides those of the daemon.
enum Uses : unsigned { kNothing = 0, kRecording = 1, kWatch = 2, kPrune = 4, kAll = 8 };

struct Command {
  std::string_view name;
  std::string_view help;  // its words first
  Result<void> (*run)(Context&);
  unsigned uses = kNothing;
};

const std::vector<Command>& commands();
// Fails with EINVAL for an unknown command, and for options that it would ignore.
Result<void> run_command(Context context, int& status);

Result<void> show_status(Context& context);
Result<void> list_sessions(Context& context);
Result<void> show_session(Context& context);
Result<void> attach_processes(Context& context);
Result<void> run_program(Context& context);
Result<void> stop_sessions(Context& context);
Result<void> pause_session(Context& context);
Result<void> resume_session(Context& context);
Result<void> mark_session(Context& context);
Result<void> watch_programs(Context& context);
Result<void> tail_sessions(Context& context);
Result<void> prune_recordings(Context& context);
Result<void> check_daemon(Context& context);
Result<void> reload_daemon(Context& context);

// What they share.
tl::unexpected<Error> usage_error(std::string message, std::string fix = {});
Result<ipc::Client> connect(const Context& context);
Result<ipc::Json> ask(const Context& context, const std::string& method, ipc::Json params);
Result<std::uint64_t> number_word(const std::string& word, std::string_view what);  // above 0

}  // namespace fade::cli::ctl
