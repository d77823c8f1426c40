#include "cli/options/program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/log.hpp"
#include "base/output_file.hpp"
#include "base/text_file.hpp"
#include "cli/options/help.hpp"
#include "cli/options/output.hpp"
#include "cli/options/typed.hpp"
#include "cli/options/values.hpp"

namespace fade::cli {
namespace {

// What every program has, and where it goes.
struct General {
  Invocation invocation;
  std::string config;
  bool no_color = false, help = false, help_all = false, version = false, describe = false;
};

std::vector<Option> general_rows(General& to) {
  const std::string_view g = kGeneral;
  return {
      {g, "-q,--quiet", "", "errors only; -qq: nothing at all", Count{&to.invocation.quiet}, Shown::Help},
      {g, "-v,--verbose", "", "say more; -vv: everything", Count{&to.invocation.verbose}},
      {g, "--color", "WHEN", "colours: auto, always or never [auto]",
       choice(to.invocation.color, {"auto", "always", "never"})},
      {g, "--no-color", "", "the same as --color=never", Flag{&to.no_color}},
      {g, "--log", "FILE", "append messages to FILE instead of writing them to stderr", Text{&to.invocation.log_file},
       Shown::HelpAll, Completes::File},
      {g, "--config", "FILE", "read options from FILE instead of ~/.config/fade/config.toml and /etc/fade/config.toml",
       Text{&to.config}, Shown::HelpAll, Completes::File},
      {g, "-h,--help", "", "show the usual options", Flag{&to.help}},
      {g, "--help-all", "", "show all options and examples", Flag{&to.help_all}, Shown::Help},
      {g, "-V,--version", "", "show the version", Flag{&to.version}},
      {g, "--dump-cli", "", "describe the options as JSON", Flag{&to.describe}, Shown::Hidden},
  };
}

std::string variable(const Surroundings& surroundings, std::string_view name) {
  const char* value = name.empty() ? nullptr : surroundings.environment(std::string(name).c_str());
  return value == nullptr ? std::string() : value;
}

Result<void> assign_all(const std::vector<Option>& rows, const Given& given, const std::string& origin) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto assigned = assign(rows[i], given.values[i]);
    if (assigned) continue;
    return tl::unexpected(with_context(origin + "--" + std::string(key(rows[i])), std::move(assigned.error())));
  }
  return {};
}

// The program whose configuration files and environment are read, and the options found there.
struct Reading {
  const Program& program;
  const std::vector<Option>& rows;
  std::vector<std::string>& typed;
  void add(const std::vector<std::string>& options) const { typed.insert(typed.end(), options.begin(), options.end()); }
};

Result<void> take_file(const Reading& reading, const std::string& path, bool required) {
  if (!required && ::access(path.c_str(), F_OK) != 0) return {};
  const auto text = read_text_file(path, "cannot read " + path);
  if (!text) return tl::unexpected(text.error());
  std::istringstream lines(*text);
  auto given = read_config(reading.rows, reading.program.section, lines);
  if (!given) return tl::unexpected(with_context(path, std::move(given.error())));
  reading.add(typed_options(reading.rows, *given));
  return assign_all(reading.rows, *given, path + ": ");
}

// The system's file, then the user's; or the one that was named.
Result<void> take_files(const Reading& reading, const Surroundings& surroundings, std::string named) {
  if (named.empty()) named = variable(surroundings, "FADE_CONFIG");
  if (!named.empty()) return take_file(reading, named, true);
  if (auto taken = take_file(reading, surroundings.system_config, false); !taken) return taken;
  std::string home = variable(surroundings, "XDG_CONFIG_HOME");
  if (home.empty() && !variable(surroundings, "HOME").empty()) home = variable(surroundings, "HOME") + "/.config";
  return home.empty() ? Result<void>{} : take_file(reading, home + "/fade/config.toml", false);
}

Result<void> take_environment(const Reading& reading, const Surroundings& surroundings) {
  const std::string text = variable(surroundings, reading.program.environment);
  if (text.empty()) return {};
  const std::string name(reading.program.environment);
  auto given = split_words(text).and_then([&](std::vector<std::string> words) {
    reading.add(typed_options(reading.rows, Words::None, words));
    return read_arguments(reading.rows, Words::None, std::move(words));
  });
  if (!given) return tl::unexpected(with_context(name, std::move(given.error())));
  return assign_all(reading.rows, *given, name + ": ");
}

std::optional<std::string> answer(const Program& program, const std::vector<Option>& rows, const General& general) {
  if (general.help_all) return full_help(program, rows);
  if (general.help) return short_help(program, rows);
  if (general.version) return version_line(program);
  if (general.describe) return description_json(program, rows);
  return {};
}

log::Level level(const Invocation& invocation) {
  const int loudness = static_cast<int>(log::Level::Info) - invocation.quiet + invocation.verbose;
  return static_cast<log::Level>(std::clamp(loudness, 0, static_cast<int>(log::Level::Trace)));
}

Result<void> open_log(const std::string& path) {
  if (path.empty()) return {};
  Result<Fd> file = open_output_file(path, OutputMode::Append, 0600);
  if (!file) return tl::unexpected(with_context("cannot write messages", std::move(file.error())));
  log::set_destination(file->release());  // stays open until the process ends
  return {};
}

// Where a standard stream is closed, the next file opened would take its number and messages would land in it. What we
// put there instead is closed again in whatever program we start. Results that nobody gets are an error, as if it were
// closed; messages that nobody reads are none.
void fill_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", (fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC) < 0)
      return;
}

}  // namespace

int refuse(const Error& error) {
  log::error("{}", error.text());
  return kUsageStatus;
}

Result<Invocation> interpret(const Program& program, std::vector<Option> rows, std::vector<std::string> arguments,
                             const Surroundings& surroundings) {
  General general;
  for (Option& row : general_rows(general)) rows.push_back(std::move(row));
  const std::vector<std::string> typed = typed_options(rows, program.words, arguments);
  auto given = read_arguments(rows, program.words, std::move(arguments));
  if (!given) return tl::unexpected(given.error());
  // First, because they say which files to read, and because help must come even where those are broken.
  if (auto done = assign_all(rows, *given, ""); !done) return tl::unexpected(done.error());
  general.invocation.answer = answer(program, rows, general);
  if (general.invocation.answer) return general.invocation;

  const Reading reading{program, rows, general.invocation.typed};
  if (auto done = take_files(reading, surroundings, general.config); !done) return tl::unexpected(done.error());
  if (auto done = take_environment(reading, surroundings); !done) return tl::unexpected(done.error());
  reading.add(typed);
  if (auto done = assign_all(rows, *given, ""); !done) return tl::unexpected(done.error());
  if (general.no_color) general.invocation.color = ColorWish::Never;
  general.invocation.words = std::move(given->words);
  return general.invocation;
}

Started start(const Program& program, std::vector<Option> rows, int argc, char** argv) {
  fill_standard_streams();
  log::set_program(program.name);
  const Surroundings surroundings{[](const char* name) -> const char* { return std::getenv(name); }};
  auto invocation = interpret(program, std::move(rows), {argv + std::min(argc, 1), argv + argc}, surroundings);
  if (!invocation) return {{}, refuse(invocation.error())};
  if (invocation->answer) {
    const int written = print_result(*invocation->answer, program.failure_status);
    return {std::move(*invocation), written};
  }
  log::set_level(level(*invocation));
  if (auto opened = open_log(invocation->log_file); !opened) return {{}, refuse(opened.error())};
  return {std::move(*invocation), std::nullopt};
}

}  // namespace fade::cli
