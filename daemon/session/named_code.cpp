#include "session/named_code.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>

namespace fade {
namespace {

using probes::Parameter;
using probes::Probe;
using probes::ProbePtr;
using probes::Type;

constexpr std::size_t kMostNames = 1024;  // of one address: a target decides how many there are

bool same(const Type& a, const Type& b) { return a.cls == b.cls && a.size == b.size && a.name == b.name; }

bool same(const Parameter& a, const Parameter& b) {
  return same(a.type, b.type) && same(a.pointee, b.pointee) && a.direction == b.direction && a.role == b.role &&
         a.count == b.count && a.length_param == b.length_param;
}

bool same_meaning(const Probe& a, const Probe& b) {
  return a.kind == b.kind && a.known_signature == b.known_signature && a.not_failures == b.not_failures &&
         std::ranges::equal(a.parameters, b.parameters,
                            [](const Parameter& x, const Parameter& y) { return same(x, y); });
}

bool same_result(const Probe& a, const Probe& b) {
  return same(a.result, b.result) && a.has_success == b.has_success && a.success == b.success;
}

// The facts that all of them share: the registers, and the result if they agree about it.
ProbePtr common(const std::vector<ProbePtr>& probes) {
  const auto agree = [&](bool (*about)(const Probe&, const Probe&)) {
    return std::ranges::all_of(probes, [&](const ProbePtr& p) { return about(*p, *probes.front()); });
  };
  const bool results = agree(same_result);
  if (results && agree(same_meaning)) return probes.front();
  Probe out{.symbol = probes.front()->symbol,
            .api = probes.front()->api,
            .group = probes.front()->group,
            .library = probes.front()->library,
            .known_signature = false,
            .origin = probes.front()->origin,
            .types = probes.front()->types};
  if (results) {
    out.result = probes.front()->result;
    out.success = probes.front()->success;
    out.has_success = probes.front()->has_success;
    for (const ProbePtr& p : probes)
      out.not_failures.insert(out.not_failures.end(), p->not_failures.begin(), p->not_failures.end());
  } else {
    out.result = {probes::TypeClass::Handle, 8, "uintptr_t"};
  }
  return std::make_shared<const Probe>(std::move(out));
}

NamedCode named(std::span<const elf::DynamicSymbol> names, const ProbeOfName& probe_of) {
  NamedCode out{.offset = names.front().offset, .ifunc = names.front().ifunc};
  std::vector<ProbePtr> wanted;
  for (const auto& symbol : names)
    if (auto probe = probe_of(symbol.name)) wanted.push_back(std::move(probe));
  if (wanted.empty()) return out;
  out.probe = common(wanted);
  for (const auto& symbol : names.first(std::min(names.size(), kMostNames)))
    if (symbol.name != out.probe->symbol) out.other_names.push_back(symbol.name);
  return out;
}

}  // namespace

std::vector<NamedCode> code_of(std::vector<elf::DynamicSymbol> symbols, const ProbeOfName& probe_of) {
  const auto place = [](const elf::DynamicSymbol& s) { return std::tie(s.offset, s.ifunc); };
  std::ranges::sort(symbols, [&](const auto& a, const auto& b) {
    return std::tie(a.offset, a.ifunc, a.name) < std::tie(b.offset, b.ifunc, b.name);
  });
  std::vector<NamedCode> out;
  for (std::size_t i = 0; i < symbols.size();) {
    std::size_t end = i + 1;
    while (end < symbols.size() && place(symbols[end]) == place(symbols[i])) ++end;
    NamedCode code = named(std::span(symbols).subspan(i, end - i), probe_of);
    if (code.probe) out.push_back(std::move(code));
    i = end;
  }
  return out;
}

}  // namespace fade
