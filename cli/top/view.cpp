#include "cli/top/view.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>

namespace fade::cli::top {
namespace {

using ByName = std::unordered_map<std::string, NamedSums>;

double per_second(std::int64_t n, std::int64_t window_ns) {
  return static_cast<double>(n) * 1e9 / static_cast<double>(window_ns);
}

std::int64_t more(std::int64_t now, std::int64_t before) { return std::max<std::int64_t>(0, now - before); }

// Sums of the chosen process or of all, by name.
ByName added_up(const std::vector<NamedSums>& all, std::int64_t process) {
  ByName out;
  for (const NamedSums& sums : all) {
    if (process != 0 && sums.process != 0 && sums.process != process) continue;
    NamedSums& to = out[sums.name];
    to.calls += sums.calls;
    to.errors += sums.errors;
    to.total_ns += sums.total_ns;
    to.samples += sums.samples;
  }
  return out;
}

std::int64_t samples_of(const ByName& all) {
  std::int64_t n = 0;
  for (const auto& [name, sums] : all) n += sums.samples;
  return n;
}

Rates rates_of(const NamedSums& before, const NamedSums& now, std::int64_t window_ns, std::int64_t samples) {
  Rates rates;
  rates.calls_n = more(now.calls, before.calls);
  rates.time_ns = more(now.total_ns, before.total_ns);
  rates.calls = per_second(rates.calls_n, window_ns);
  rates.errors = per_second(more(now.errors, before.errors), window_ns);
  rates.time = static_cast<double>(rates.time_ns) / static_cast<double>(window_ns);
  if (samples > 0)
    rates.samples = static_cast<double>(more(now.samples, before.samples)) / static_cast<double>(samples);
  return rates;
}

using Key = std::tuple<double, double, std::int64_t, std::int64_t>;

// The window counts more than all before it.
template <class Row>
Key weight(const Row& row, Order order, std::int64_t total_ns) {
  const Rates rates = row.rates.value_or(Rates{});
  switch (order) {
    case Order::Time: return {rates.time + rates.samples, rates.calls, total_ns, row.calls};
    case Order::Calls: return {rates.calls, 0, row.calls, total_ns};
    case Order::Errors: return {rates.errors, 0, row.errors, row.calls};
    case Order::Name: break;
  }
  return {};
}

void sort_items(std::vector<Item>& items, Order order) {
  std::ranges::sort(items, [&](const Item& a, const Item& b) {
    const Key left = weight(a, order, a.total_ns + a.samples), right = weight(b, order, b.total_ns + b.samples);
    return left != right ? left > right : a.name < b.name;
  });
}

struct Listed {
  std::vector<Item> items;
  std::size_t hidden = 0;
};

Listed list(const std::vector<NamedSums>* before, const std::vector<NamedSums>& now, std::int64_t window_ns,
            const Choice& choice) {
  const ByName old = before == nullptr ? ByName{} : added_up(*before, choice.process);
  const ByName present = added_up(now, choice.process);
  const std::int64_t samples = samples_of(present) - samples_of(old);
  Listed out;
  for (const auto& [name, sums] : present) {
    if (!choice.filter.takes(name)) {
      ++out.hidden;
      continue;
    }
    Item item{name, {}, sums.calls, sums.errors, sums.total_ns, sums.samples};
    const auto known = old.find(name);
    if (before != nullptr)
      item.rates = rates_of(known == old.end() ? NamedSums{} : known->second, sums, window_ns, samples);
    out.items.push_back(std::move(item));
  }
  sort_items(out.items, choice.order);
  return out;
}

Rates rates_of(const ProcessSums& before, const ProcessSums& now, std::int64_t window_ns) {
  Rates rates;
  rates.calls_n = more(now.calls, before.calls);
  rates.time_ns = more(now.waited_ns, before.waited_ns);
  rates.calls = per_second(rates.calls_n, window_ns);
  rates.errors = per_second(more(now.errors, before.errors), window_ns);
  rates.launches = per_second(more(now.launches, before.launches), window_ns);
  rates.time = static_cast<double>(rates.time_ns) / static_cast<double>(window_ns);
  return rates;
}

ProcessItem item_of(const Sums* base, const ProcessSums& now, std::int64_t window_ns) {
  ProcessItem item{now.id,       now.pid,       now.command, now.ended,        {}, now.calls, now.errors,
                   now.launches, now.waited_ns, now.memory,  now.memory_before};
  if (base == nullptr) return item;
  const auto known = std::ranges::find(base->processes, now.id, &ProcessSums::id);
  item.rates = rates_of(known == base->processes.end() ? ProcessSums{} : *known, now, window_ns);
  return item;
}

void add(ProcessItem& to, const ProcessItem& more) {
  to.calls += more.calls;
  to.errors += more.errors;
  to.launches += more.launches;
  to.waited_ns += more.waited_ns;
  to.memory += more.memory;
  if (!more.rates) return;
  Rates& rates = to.rates ? *to.rates : to.rates.emplace();
  rates.calls += more.rates->calls;
  rates.errors += more.rates->errors;
  rates.launches += more.rates->launches;
  rates.time += more.rates->time;
}

// Programs without a call, such as shells, are shown only where nothing else is.
void leave_out_idle(std::vector<ProcessItem>& processes) {
  const auto called = [](const ProcessItem& p) { return p.calls > 0; };
  if (std::ranges::any_of(processes, called)) std::erase_if(processes, std::not_fn(called));
}

void list_processes(const Sums* base, const Sums& now, const Choice& choice, View& view) {
  for (const ProcessSums& process : now.processes) {
    ProcessItem item = item_of(base, process, view.window_ns);
    if (choice.process == 0 || choice.process == process.id) add(view.whole, item);
    if (choice.process == process.id) view.whole.pid = process.pid;
    view.processes.push_back(std::move(item));
  }
  leave_out_idle(view.processes);
  std::ranges::stable_sort(view.processes, [&](const ProcessItem& a, const ProcessItem& b) {
    if (a.ended != b.ended) return b.ended;
    const Key left = weight(a, choice.order, a.waited_ns), right = weight(b, choice.order, b.waited_ns);
    return left != right ? left > right : a.command < b.command;
  });
}

void list_failures(const Sums& now, const Choice& choice, View& view) {
  std::ranges::copy_if(now.failures, std::back_inserter(view.failures), [&](const Failure& failure) {
    return (choice.process == 0 || failure.process == choice.process) &&
           choice.filter.takes(failure.name + ": " + failure.error);
  });
}

}  // namespace

Order next(Order order) { return static_cast<Order>((static_cast<std::size_t>(order) + 1) % std::size(kOrderNames)); }

View make_view(const Sums* base, const Sums& now, const Choice& choice) {
  View view;
  if (base != nullptr) view.window_ns = now.at_ns - base->at_ns;
  if (view.window_ns <= 0) base = nullptr, view.window_ns = 0;
  const auto take = [&](std::vector<NamedSums> Sums::*member, std::vector<Item>& to, std::size_t& hidden) {
    Listed listed = list(base == nullptr ? nullptr : &(base->*member), now.*member, view.window_ns, choice);
    to = std::move(listed.items);
    hidden = listed.hidden;
  };
  take(&Sums::functions, view.functions, view.functions_hidden);
  take(&Sums::kernels, view.kernels, view.kernels_hidden);
  take(&Sums::lines, view.lines, view.lines_hidden);
  list_processes(base, now, choice, view);
  list_failures(now, choice, view);
  view.since_ns = now.since_ns;
  view.clean = now.clean;
  view.kernels_on_gpu = now.kernels_on_gpu;
  view.kernels_of_all = choice.process != 0 && !now.kernels_on_gpu && now.processes.size() > 1;
  view.gpus = now.gpus;
  view.without_hip = now.without_hip;
  view.devices = now.devices;
  view.drops = now.drops;
  view.cost = now.cost;
  return view;
}

}  // namespace fade::cli::top
