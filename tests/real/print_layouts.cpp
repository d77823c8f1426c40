// The two forms of hipDeviceProp_t, for print_tables.cpp.
#include <cstdio>
#include <string>

#include "probes/device_properties.hpp"

void print_layouts();

namespace {

void print(const fade::probes::Layout& layout) {
  const std::string name(layout.name);
  std::printf("struct %s %u\n", name.c_str(), layout.size);
  for (const auto& field : layout.fields)
    std::printf("member %s %s %u %u\n", name.c_str(), std::string(field.name).c_str(), field.offset, field.size);
}

}  // namespace

void print_layouts() {
  print(fade::probes::layout_r0000());
  print(fade::probes::layout_r0600());
}
