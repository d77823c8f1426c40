// --actions: rules of the form "on FUNCTION [if CONDITION] [limit N] do ACTION", one a line. Checked before a program
// is started: functions, parameters, signals and numbers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actions/condition.hpp"
#include "base/result.hpp"
#include "probes/probe.hpp"

namespace fade::actions {

struct Action {
  enum class Kind : std::uint8_t { Snapshot, Stack, Dump, Mark, Signal, Stop, Exec };
  Kind kind = Kind::Stack;
  std::string argument;              // of Dump: the parameter that points to the memory; of Mark: its name
  std::uint64_t bytes = 0;           // of Dump
  std::string bytes_from;            // of Dump: the parameter with the number of bytes; empty: `bytes`
  int signal = 0;                    // of Signal
  std::vector<std::string> command;  // of Exec
};
std::string_view name_of(Action::Kind kind);

struct Rule {
  std::uint32_t number = 0;  // from 1
  std::string function;      // pattern of names
  Condition condition;
  Action action;
  std::uint64_t limit = 100;  // how often it does something at most
  std::string spec, origin;   // as it was written; FILE:LINE

  bool names(const probes::Probe& probe) const;
};

// The facts that rules are checked against.
struct Known {
  const std::vector<probes::ProbePtr>& probes;
  std::vector<std::string> also;  // functions that the user names himself (--probe)
  bool has_steps = false;
};

// Empty lines and lines that begin with # are no rules. Errors are of the form FILE:LINE:COLUMN: with code EINVAL.
Result<std::vector<Rule>> parse_rules(std::string_view text, const std::string& file, const Known& known);
Result<std::vector<Rule>> read_rules(const std::string& path, const Known& known);

}  // namespace fade::actions
