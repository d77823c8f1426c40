// What fade-doctor's command line says.
#pragma once
#include <string>
#include <vector>

#include "base/pid.hpp"
#include "base/result.hpp"
#include "cli/options/option.hpp"
#include "cli/options/program.hpp"

namespace fade::cli::doctor {

struct Request {
  bool json = false;
  bool strict = false;
  Pid pid = 0;                       // 0: none
  std::vector<std::string> command;  // empty: none
};

const Program& program();
std::vector<Option> rows(Request& request);

// One word that is a number is a process; other words are a command. An error is one of usage.
Result<void> finish(Request& request, std::vector<std::string> words);

}  // namespace fade::cli::doctor
