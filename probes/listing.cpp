#include "probes/listing.hpp"

#include "probes/vocabulary.hpp"

namespace fade::probes {
namespace {

// "const void *" and a name: the star is at the name.
std::string declared(const std::string& type, const std::string& name) {
  return type.ends_with('*') ? type + name : type + ' ' + name;
}

std::string array_suffix(const Probe& probe, const Parameter& parameter) {
  if (parameter.length_param >= 0 && static_cast<std::size_t>(parameter.length_param) < probe.parameters.size())
    return '[' + probe.parameters[static_cast<std::size_t>(parameter.length_param)].name + ']';
  return parameter.count > 1 ? '[' + std::to_string(parameter.count) + ']' : "";
}

std::string parameter_text(const Probe& probe, const Parameter& parameter) {
  constexpr const char* kDirections[] = {"in ", "out ", "inout "};
  std::string out;
  if (parameter.pointee.cls != TypeClass::Void) out = kDirections[static_cast<std::size_t>(parameter.direction)];
  const std::string suffix = array_suffix(probe, parameter);
  std::string type = parameter.type.name;
  if (!suffix.empty() && type.ends_with('*')) type.pop_back();  // name[n] shows it already
  while (type.ends_with(' ')) type.pop_back();
  return out + declared(type, parameter.name) + suffix;
}

}  // namespace

std::string prototype_of(const Probe& probe) {
  if (!probe.known_signature) return "? " + probe.symbol;
  std::string out = declared(probe.result.name, probe.symbol) + '(';
  for (const Parameter& parameter : probe.parameters) {
    if (&parameter != probe.parameters.data()) out += ", ";
    out += parameter_text(probe, parameter);
  }
  return out + ')';
}

std::vector<ListedProbe> list_probes(const std::vector<ProbePtr>& probes, const Selection& selection) {
  std::vector<ListedProbe> out;
  for (const ProbePtr& probe : probes)
    out.push_back({.symbol = probe->symbol,
                   .api = probe->api,
                   .group = probe->group,
                   .on = selection(*probe),
                   .prototype = prototype_of(*probe),
                   .memory = memory_note(probe->memory),
                   .library = probe->library,
                   .origin = probe->origin});
  return out;
}

}  // namespace fade::probes
