// Prints what fade believes about the vendor's headers and libraries, one fact a line, for the tests to hold against
// the real ones: members of hipDeviceProp_t (print_layouts.cpp), values of enums by version, functions and their
// parameters.
#include <cstdio>

#include "probes/built_in.hpp"
#include "probes/types.hpp"

void print_layouts();

namespace {

void print_enums() {
  const auto types = fade::probes::built_in_types();
  for (const auto& name : types->names()) {
    const auto* declared = types->find(name);
    if (!declared) continue;
    for (const auto& value : declared->values)
      std::printf("value %s %s %lld %d %d\n", name.c_str(), value.name.c_str(), static_cast<long long>(value.value),
                  value.from, value.to);
  }
}

// function API SYMBOL, then the sizes of the result and of each parameter where the signature is known.
void print_functions() {
  for (const auto& probe : fade::probes::built_in_probes()) {
    std::printf("function %s %s", probe->api.c_str(), probe->symbol.c_str());
    if (probe->known_signature) std::printf(" %u", probe->result.size);
    if (probe->known_signature)
      for (const auto& parameter : probe->parameters) std::printf(" %u", parameter.type.size);
    std::printf("\n");
  }
}

}  // namespace

int main() {
  print_layouts();
  print_enums();
  print_functions();
  return 0;
}
