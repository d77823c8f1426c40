#include "session/governor.hpp"

#include <algorithm>

namespace fade {
namespace {

// Of the budget: more detail must leave some room, or the next window takes it back.
constexpr double kRoom = 0.8;

BudgetStep next(BudgetStep step) { return static_cast<BudgetStep>(static_cast<int>(step) + 1); }
BudgetStep before(BudgetStep step) { return static_cast<BudgetStep>(static_cast<int>(step) - 1); }

double all_costs(const BudgetWindow& window) {
  double out = 0;
  for (const auto& function : window.functions) out += function.calls.cost(window.prices);
  return out;
}

Governor::Change change_of(const BudgetWindow& window, const BudgetWindow::Function& function, BudgetStep to,
                           double own, double all) {
  const double seconds = static_cast<double>(window.elapsed_ns) / 1e9;
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(function.calls.calls()) / seconds);
  return {function.entry, function.step, to, own, all, rate};
}

}  // namespace

std::uint32_t every_of(BudgetStep step) {
  switch (step) {
    case BudgetStep::Stops:
    case BudgetStep::Taps:
    case BudgetStep::Sums: return 1;
    case BudgetStep::Every8th: return 8;
    case BudgetStep::Every64th: return 64;
    case BudgetStep::Every512th: return 512;
    case BudgetStep::CountsOnly: return 0;
  }
  return 1;
}

double price_of(BudgetStep step, const BudgetPrices& prices) {
  const auto tap = static_cast<double>(prices.tap_ns), gate = static_cast<double>(prices.gate_ns);
  if (step == BudgetStep::Stops) return 2 * static_cast<double>(prices.stop_ns);
  const std::uint32_t every = every_of(step);
  if (every == 1) return tap;
  return gate + (every == 0 ? 0 : tap / every);
}

// Threads run beside each other, so a function's part is that which it has in the costs of all threads.
double Governor::own_share(const BudgetWindow& window, const Function& function) const {
  const double all = all_costs(window);
  if (all <= 0) return 0;
  const double busiest = window.busiest.cost(window.prices) + static_cast<double>(window.beside_ns);
  return function.calls.cost(window.prices) / all * busiest / static_cast<double>(window.elapsed_ns);
}

std::vector<Governor::Change> Governor::look(const BudgetWindow& window) {
  is_at_end_ = false;
  if (window.elapsed_ns <= 0) return {};
  const double busiest = window.busiest.cost(window.prices) + static_cast<double>(window.beside_ns);
  const double all = busiest / static_cast<double>(window.elapsed_ns);
  if (all <= share_) return give_back(window, all);
  last_excess_ = window.at;
  return save(window, window.functions, all);
}

// The dearest first, until the rest alone would be cheap enough.
std::vector<Governor::Change> Governor::save(const BudgetWindow& window, std::vector<Function> dear, double all) {
  std::ranges::sort(dear, std::greater(), [&](const Function& one) { return one.calls.cost(window.prices); });
  std::vector<Change> out;
  double rest = all;
  for (const Function& function : dear) {
    const double own = own_share(window, function);
    if (rest <= share_ || own <= 0) break;
    if (function.step >= function.least) continue;
    History& history = histories_[function.entry];
    const std::int64_t patience = std::max(history.patience, quiet_ns_);
    const bool is_too_soon = window.at - history.gave_back < 2 * patience;
    if (history.gave_back != 0) history.patience = is_too_soon ? std::min(2 * patience, kMostPatience) : quiet_ns_;
    history.changed = window.at;
    history.gave_back = 0;
    out.push_back(change_of(window, function, next(function.step), own, all));
    rest -= own;
  }
  is_at_end_ = out.empty();
  return out;
}

// The cheapest first. A function that is tapped is left to the look for quiet ones.
std::vector<Governor::Change> Governor::give_back(const BudgetWindow& window, double all) {
  if (last_excess_ != 0 && window.at - last_excess_ < quiet_ns_) return {};
  std::vector<Function> cheap = window.functions;
  std::ranges::sort(cheap, {}, [&](const Function& one) { return one.calls.cost(window.prices); });
  for (const Function& function : cheap) {
    if (function.step <= BudgetStep::Taps) continue;
    History& history = histories_[function.entry];
    if (window.at - history.changed < std::max(history.patience, quiet_ns_)) continue;
    const BudgetStep to = before(function.step);
    const double own = own_share(window, function);
    const double grows = price_of(to, window.prices) / std::max(price_of(function.step, window.prices), 0.1);
    if (all + own * (grows - 1) > kRoom * share_) continue;
    history.changed = history.gave_back = window.at;
    return {change_of(window, function, to, own, all)};
  }
  return {};
}

}  // namespace fade
