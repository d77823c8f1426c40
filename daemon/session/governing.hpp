// Carries out --budget: measures what fade costs each program, asks its Governor, and has the functions recorded with
// less or more detail. Each change is a row of `lifecycle`. Tracing thread only.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "session/function_table.hpp"
#include "session/governor.hpp"
#include "session/inferior.hpp"
#include "session/roster.hpp"
#include "session/tap_capture.hpp"

namespace fade {

// What is known of one program's costs, and what was decided.
struct GovernedProgram {
  explicit GovernedProgram(double share, std::int64_t quiet_ns) : governor(share, quiet_ns) {}

  Governor governor;
  std::int64_t since = 0;                                // of the window; session time
  std::unordered_map<std::uint32_t, BudgetCalls> stops;  // by function, in the window
  // All until the begin of the window.
  std::unordered_map<std::uint32_t, BudgetCalls> tapped;  // by function
  std::map<ThreadId, BudgetCalls> threads;
  std::set<std::uint32_t> refused;      // functions that could not go a step
  std::set<std::uint32_t> told_costly;  // functions of which nothing more can be saved
  Tid busiest = 0;
  std::int64_t waited_ns = 0;  // for a CPU, of that thread
};

class Governing {
 public:
  struct Parts {
    EventSink& sink;
    const SessionClock& clock;
    const Roster& roster;
    FunctionTable& functions;
    TapCapture& taps;
    double share = 0;  // 0: there is no budget
    std::int64_t quiet_ns = Governor::kQuiet;
    std::string step_begins;  // pattern of functions: their calls begin the program's steps (--step)
  };
  explicit Governing(const Parts& parts) : p_(parts) {}

  bool is_on() const { return p_.share > 0; }
  // A stop of the thread at a breakpoint of `entry` has been handled.
  void stopped(const Thread& thread, std::uint32_t entry, std::int64_t held_ns);
  // Ends the window of every program. About once a second.
  void look(const BudgetPrices& prices);
  // Functions that were recorded with less detail, in any process.
  std::size_t less_detailed() const { return less_detailed_.size(); }
  // The process is a fork's copy, and functions of its parent are recorded with less detail.
  void copied(const Inferior& inferior);

 private:
  GovernedProgram& of(Program& program) const;
  BudgetWindow window(const Inferior& inferior, GovernedProgram& governed, std::int64_t now) const;
  void add_functions(const Program& program, GovernedProgram& governed, BudgetWindow& window) const;
  Tid add_busiest(const Inferior& inferior, GovernedProgram& governed, BudgetWindow& window) const;
  static void add_waiting(GovernedProgram& governed, BudgetWindow& window, Tid busiest, std::int64_t fade_ns);
  BudgetStep least_of(const Program& program, const GovernedProgram& governed,
                      const BudgetWindow::Function& function) const;
  bool begins_step(const probes::Probe& probe) const;
  void carry_out(Inferior& inferior, GovernedProgram& governed, const Governor::Change& change);
  void tell_costly(const Inferior& inferior, GovernedProgram& governed, const BudgetWindow& window);
  void tell(const Inferior& inferior, std::uint32_t entry, BudgetStep step, const std::string& why);

  const Parts p_;
  std::set<std::uint32_t> less_detailed_;
  std::int64_t own_cpu_ns_ = 0;  // of fade, until the last look
};

}  // namespace fade
