// probes: the catalogue of functions that fade knows to watch, from the .probes files built in.
#include "cli/query/command.hpp"
#include "probes/catalogue.hpp"
#include "probes/library_catalogues.hpp"
#include "probes/vocabulary.hpp"

namespace fade::query {
namespace {

std::string prototype(const probes::Probe& probe) {
  std::string text = probe.result.name.empty() ? "void" : probe.result.name;
  (text += ' ') += probe.symbol + "(";
  if (!probe.known_signature) return text + "?)";
  for (std::size_t i = 0; i < probe.parameters.size(); ++i) {
    const probes::Parameter& p = probe.parameters[i];
    if (i > 0) text += ", ";
    text += p.type.name + (p.name.empty() ? "" : " " + p.name);
  }
  return text + ")";
}

// With the functions of libraries above HIP.
std::vector<probes::ProbePtr> every_probe() {
  probes::Catalogue catalogue;
  for (const std::string_view group : probes::library_groups()) catalogue.add_libraries(group);
  catalogue.add_libraries("ops");
  return catalogue.all();
}

}  // namespace

Result<void> list_probes(Context& context) {
  using table::Kind;
  std::vector<std::vector<table::Value>> rows;
  for (const probes::ProbePtr& probe : every_probe())
    rows.push_back({probe->symbol, probe->api, probe->group, std::string(probes::word_for(probe->kind)),
                    probes::memory_note(probe->memory), std::int64_t{!probe->hot && !probe->optional},
                    prototype(*probe), probe->origin});
  return print_rows(context, "probes",
                    {{"name", Kind::Text},
                     {"api", Kind::Text},
                     {"group", Kind::Text},
                     {"kind", Kind::Text},
                     {"memory", Kind::Text},
                     {"on", Kind::YesNo},
                     {"prototype", Kind::Text},
                     {"origin", Kind::Text}},
                    rows, "/*? AND name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || api || ',') > 0 */",
                    {"origin", "api", "kind"});
}

}  // namespace fade::query
