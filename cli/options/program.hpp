// What all fade programs do alike before they begin: read configuration files, the environment and the arguments (the
// later wins), answer --help and --version, refuse what they do not understand with status 2, set up messages.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/options/color.hpp"
#include "cli/options/option.hpp"
#include "cli/options/tokens.hpp"

namespace fade::cli {

inline constexpr int kUsageStatus = 2;

struct Named {
  std::string_view name;
  std::string_view help;
  std::string_view group{};  // a heading of the short help; empty: none
};

struct Program {
  std::string_view name;         // fade-run
  std::string_view section;      // of the configuration file: run
  std::string_view environment;  // variable with options that stand before those of the command line: FADE_OPTIONS
  std::string_view usage;        // what stands behind the name: [OPTIONS] [--] COMMAND [ARGS...]
  std::string_view about;        // one sentence or two
  std::vector<Named> examples;   // a command, what it does
  Words words = Words::None;
  std::string_view words_title{};              // heading of the words in the help: Reports
  std::vector<Named> known_words{};            // offered by completion: the reports of fade-query
  Completes words_complete = Completes::File;  // offered besides
  std::string components{};                    // for --version: "libdw 0.188, sqlite 3.40.1"
  int failure_status = 1;                      // where --help and the like cannot be written
};

struct Invocation {
  std::vector<std::string> words;
  std::vector<std::string> typed;  // the options: of configuration files, of the environment, of the command line
  ColorWish color = ColorWish::Auto;
  std::string log_file;
  int quiet = 0, verbose = 0;
  // Set by --help and the like: print `answer` on stdout and end with status 0.
  std::optional<std::string> answer;
};

// What parsing may look at besides the arguments; a test hands in its own.
struct Surroundings {
  std::function<const char*(const char*)> environment;
  std::string system_config = "/etc/fade/config.toml";
};

// Without side effects besides the targets of `rows`.
Result<Invocation> interpret(const Program& program, std::vector<Option> rows, std::vector<std::string> arguments,
                             const Surroundings& surroundings);

// interpret() for main(): sets level, destination and prefix of messages, prints answers and errors. The number is
// the status to end with at once.
struct Started {
  Invocation invocation;
  std::optional<int> exit_status;
};
// Says what is wrong with the command line; gives the status to end with.
int refuse(const Error& error);

Started start(const Program& program, std::vector<Option> rows, int argc, char** argv);

}  // namespace fade::cli
