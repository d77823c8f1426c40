// The name of a database from its pattern: %e program, %p pid, %h host, %r rank, %t time, %n the first free number,
// %q{NAME} an environment variable, %% a percent sign. Texts that come from outside cannot leave the directory the
// pattern names.
#pragma once
#include <cstdint>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace fade {

inline constexpr std::string_view kDefaultOutputName = "fade-%e-%p.db";

struct OutputNameFacts {
  std::string program;  // path or name
  int pid = 0;
  std::string host;
  std::time_t now = 0;
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::function<std::string()> rank;  // of the process in a distributed job; empty without one
  std::function<bool(const std::string& path)> exists;
};

OutputNameFacts output_name_facts(std::string program, int pid);  // of this machine and moment

Result<std::string> expand_output_name(std::string_view pattern, const OutputNameFacts& facts);

// The default name; if a file has it, the name with the first free number from 2 on: fade-python3-4242-2.db.
Result<std::string> free_default_name(const OutputNameFacts& facts);

// Checks the parts that can be checked before there is a pid.
Result<void> check_output_name(std::string_view pattern);

}  // namespace fade
