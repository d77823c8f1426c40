#include "session/function_table.hpp"

#include <utility>

#include "base/recording.hpp"

namespace fade {

FunctionTable::FunctionTable(EventSink& sink, const probes::Overrides& overrides, CallersOf callers, MoreNeeds more)
    : sink_(sink), overrides_(overrides), callers_(std::move(callers)), more_(std::move(more)) {
  add({});
  // loader(), set_action(), set_mask()
  for (const auto what : {Entry::What::Loader, Entry::What::Sigaction, Entry::What::Sigmask}) add({.what = what});
}

std::uint32_t FunctionTable::add(Entry entry) {
  entries_.push_back(std::make_unique<Entry>(std::move(entry)));
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::uint32_t FunctionTable::function(const probes::ProbePtr& probe, const std::string& library, int library_major,
                                      const std::vector<std::string>& other_names) {
  const auto [it, is_new] = functions_.try_emplace(Key(library, probe->symbol));
  if (!is_new) return it->second;
  Entry entry{.function = ++last_function_, .probe = probe, .library = library, .library_major = library_major};
  entry.needs = needs_of(*probe, overrides_);
  if (more_) more_(*probe, entry.needs);
  // HIP itself makes the calls of HSA that tell times of the GPU.
  if (callers_ && entry.needs.hsa == probes::HsaCall::None) entry.needs.callers = callers_(*probe);
  sink_.notice(FunctionDefined{entry.function, probe, library, library_major, other_names});
  return it->second = add(std::move(entry));
}

std::uint32_t FunctionTable::resolver(const probes::ProbePtr& probe, const std::string& library, int library_major) {
  const auto [it, is_new] = resolvers_.try_emplace(Key(library, probe->symbol));
  if (!is_new) return it->second;
  Entry entry{.what = Entry::What::Resolver, .probe = probe, .library = library, .library_major = library_major};
  entry.needs.resolver = true;
  return it->second = add(std::move(entry));
}

void FunctionTable::report_left_out(std::int64_t now) {
  std::uint64_t n = 0;
  for (const auto& entry : entries_) n += std::exchange(entry->left_out, 0);
  if (n > 0) sink_.notice(Drop{.at = now, .n = n, .reason = std::string(kOtherCallers)});
}

void FunctionTable::report_costs() {
  for (const auto& entry : entries_) {
    if (entry->stops == 0) continue;
    sink_.notice(StopCost{entry->function, entry->stops, entry->held_ns});
    entry->stops = 0;
    entry->held_ns = 0;
  }
}

}  // namespace fade
