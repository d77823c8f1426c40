// The user's wishes for one session.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actions/rules.hpp"
#include "base/detail_levels.hpp"
#include "base/recording.hpp"
#include "base/regex.hpp"
#include "blas/check_rule.hpp"
#include "numbers/watch_rule.hpp"
#include "probes/injections/injections.hpp"
#include "session/cached_copy.hpp"
#include "session/function_table.hpp"
#include "session/governor.hpp"
#include "session/hot_functions.hpp"
#include "session/module_watch.hpp"
#include "session/stack_policy.hpp"

namespace fade {

// Calls that are handed over without a record of their own (SummedCall): never, those of functions that --budget or
// --detail has recorded as sums, or all.
enum class SummedCalls : std::uint8_t { Never, OfBudget, All };

struct SessionOptions {  // what the user asked of a session: a field is the value of one option
  ModuleWatch::Wishes wishes;
  FunctionTable::CallersOf callers;  // empty: calls of all libraries are recorded
  probes::Injections injections;     // --inject, --replace
  bool replaces_dry = false;         // replacements are counted, and nothing is written (--replace-dry)
  StackChoice stacks;
  CaptureEngine engine = CaptureEngine::Auto;
  // with CaptureEngine::Auto, a tapped function that was not called for so long has its breakpoint again
  std::int64_t tap_quiet_ns = 60'000'000'000;
  // and one that is called HotFunctions::kCalls times in so long is tapped; tests on slow machines have more time
  std::int64_t tap_window_ns = HotFunctions::kWindow;
  // --budget: what fade may cost a program, as a share of its time; 0: there is no budget
  double budget = 0;
  BudgetPrices budget_prices;  // until CallWatch::know_prices()
  std::int64_t budget_quiet_ns = Governor::kQuiet;
  std::int64_t budget_window_ns = 1'000'000'000;
  SummedCalls summed_calls = SummedCalls::Never;
  DetailLevels detail;                  // --detail
  numbers::WatchRule numbers;           // --watch-numbers
  blas::CheckRule check;                // --check blas
  std::string check_program;            // that computes products again
  std::vector<actions::Rule> actions;   // --actions
  CachedWish cached;                    // --find-cached, --set-cached, --set at fade-attach
  StepRule step;                        // --step, for conditions of actions
  std::string step_begins;              // pattern of functions: their calls begin the program's steps (--step)
  int trigger_signal = 0;               // worth a row of lifecycle, besides the usual ones (--trigger signal=); 0: none
  bool follow = true;                   // children of the first process
  std::optional<Regex> child_filter;    // only programs with a path that matches are watched
  std::vector<std::string> only_ranks;  // of programs with RANK in their environment, only these; empty: all
  std::size_t most_call_sites = 1'000'000;  // call sites of one program: a target decides how many there are
  // rest of a lifted return place before it is forgotten; longer than any fork takes
  std::int64_t return_rest_ns = 20'000'000'000;
  std::int64_t hang_ns = 0;  // a process hangs if its running calls go on for so long and none ends; 0: never
};

}  // namespace fade
