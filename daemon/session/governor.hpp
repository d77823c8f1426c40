// Keeps what fade costs one program below a share of its time (--budget). Decides, from the costs of a window, which
// functions are recorded with less detail, and which with more again. Pure.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace fade {

// How the calls of a function are recorded, from the most to the least.
enum class BudgetStep : std::uint8_t {
  Stops,     // breakpoints
  Taps,      // without a stop
  Sums,      // and without rows
  Every8th,  // only such calls are recorded, and the others are counted
  Every64th,
  Every512th,
  CountsOnly,
};

// What calls cost on this machine, in ns. stop: of each stop, beyond the time for which it was held.
struct BudgetPrices {
  std::int64_t stop_ns = 0, tap_ns = 0, gate_ns = 0;
};

// The calls of a window, or their stops.
struct BudgetCalls {
  std::uint64_t stops = 0, recorded = 0, counted = 0;  // recorded: by taps
  std::int64_t held_ns = 0;                            // at the stops

  // A call that stops has two stops, a tapped one has few.
  std::uint64_t calls() const { return recorded + counted > 0 ? recorded + counted : stops / 2; }
  double cost(const BudgetPrices& prices) const {
    return static_cast<double>(held_ns) + static_cast<double>(stops) * static_cast<double>(prices.stop_ns) +
           static_cast<double>(recorded) * static_cast<double>(prices.tap_ns) +
           static_cast<double>(counted) * static_cast<double>(prices.gate_ns);
  }
};

struct BudgetWindow {
  struct Function {
    std::uint32_t entry = 0;
    BudgetStep step{}, least{};  // least: the last step that it may go to
    BudgetCalls calls;
  };
  std::int64_t at = 0, elapsed_ns = 0;
  BudgetPrices prices;
  BudgetCalls busiest;         // of the thread that they cost most
  std::int64_t beside_ns = 0;  // for which that thread waited while fade ran beside it
  std::vector<Function> functions;
};

class Governor {
 public:
  static constexpr std::int64_t kQuiet = 60'000'000'000, kMostPatience = 3'600'000'000'000;  // ns

  // `share`: of the time of the busiest thread. `quiet_ns`: without an excess, before a function is recorded with more.
  explicit Governor(double share, std::int64_t quiet_ns = kQuiet) : share_(share), quiet_ns_(quiet_ns) {}

  struct Change {
    std::uint32_t entry = 0;
    BudgetStep from{}, to{};
    double own = 0, all = 0;  // shares of the time: of this function, of all
    std::uint64_t rate = 0;   // calls a second
  };
  // The changes that follow from a window. At most one of them is towards more.
  std::vector<Change> look(const BudgetWindow& window);
  // The last window was over the budget, and nothing more can be saved.
  bool is_at_end() const { return is_at_end_; }
  double share() const { return share_; }

 private:
  struct History {
    std::int64_t changed = 0, gave_back = 0;  // the last change, the last one towards more
    std::int64_t patience = 0;
  };
  using Function = BudgetWindow::Function;

  std::vector<Change> save(const BudgetWindow& window, std::vector<Function> dear, double all);
  std::vector<Change> give_back(const BudgetWindow& window, double all);
  double own_share(const BudgetWindow& window, const Function& function) const;

  const double share_;
  const std::int64_t quiet_ns_;
  std::int64_t last_excess_ = 0;
  bool is_at_end_ = false;
  std::unordered_map<std::uint32_t, History> histories_;
};

// The part of the calls that is recorded is 1 : this; 0: none.
std::uint32_t every_of(BudgetStep step);
// What a call costs there, in ns, without the time for which its stops are held.
double price_of(BudgetStep step, const BudgetPrices& prices);

}  // namespace fade
