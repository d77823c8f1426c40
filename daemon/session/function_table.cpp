#include "session/function_table.hpp"

namespace fade {

FunctionTable::FunctionTable(EventSink& sink) : sink_(sink) {
  add({});
  for (const auto what : {Entry::What::Loader, Entry::What::Sigaction, Entry::What::Sigmask}) add({.what = what});  // loader(), set_action(), set_mask()
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
  entry.gives_table = probe->with_role(probes::Role::Table) != nullptr;
  for (std::size_t i = 0; i < probe->parameters.size() && i < 255; ++i) {
    const auto& parameter = probe->parameters[i];
    const auto index = static_cast<std::uint8_t>(i);
    if (parameter.type.cls == probes::TypeClass::CString) entry.strings.push_back(index);
    if (parameter.read_at_entry()) entry.ins.push_back(index);
    if (parameter.read_at_return()) entry.outs.push_back(index);
  }
  sink_.notice(FunctionDefined{entry.function, probe, library, library_major, other_names});
  return it->second = add(std::move(entry));
}

std::uint32_t FunctionTable::resolver(const probes::ProbePtr& probe, const std::string& library, int library_major) {
  const auto [it, is_new] = resolvers_.try_emplace(Key(library, probe->symbol));
  if (is_new)
    it->second = add({.what = Entry::What::Resolver, .probe = probe, .library = library, .library_major = library_major});
  return it->second;
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
