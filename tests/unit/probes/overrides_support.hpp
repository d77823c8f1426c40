// What the tests of rules share: rules from text, and a call whose memory the patches are applied to.
#pragma once
#include <gmock/gmock.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "probes/overrides/overrides.hpp"

namespace fade::probes {

inline Overrides rules(const std::vector<std::string>& texts) {
  std::vector<RuleText> given;
  for (const std::string& text : texts) given.push_back({text});
  auto parsed = Overrides::parse(given);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().text();
    return {};
  }
  return *parsed;
}

inline std::string error_of(const std::string& text, const std::string& origin = "--set") {
  const auto parsed = Overrides::parse(std::vector<RuleText>{{text, origin}});
  return parsed ? "no error" : parsed.error().text();
}

// A call that has just returned success, and the memory behind its pointers.
struct TestCall {
  std::string symbol;
  std::vector<std::uint64_t> arguments;
  std::map<std::uint8_t, std::vector<std::byte>> memory;
  std::string caller = "libtorch_hip.so";
  int current_device = 0;

  DeviceCall call() const { return {symbol, arguments, current_device, caller}; }

  // Sees what the rules ask to see, applies the patches in order, returns them.
  std::vector<Patch> apply(const Overrides& overrides) {
    std::vector<Found> found;
    for (const Written& w : overrides.reads(symbol, arguments)) {
      if (w.bytes == 0) continue;
      const auto& all = memory[w.parameter];
      found.push_back({w.parameter, std::span(all).first(std::min<std::size_t>(w.bytes, all.size()))});
    }
    auto patches = overrides.patches(call(), found);
    for (const Patch& patch : patches) {
      auto& all = memory[patch.parameter];
      if (patch.offset + patch.bytes.size() > all.size()) {
        ADD_FAILURE() << patch.field << " would be written beyond the memory";
        continue;
      }
      std::copy(patch.bytes.begin(), patch.bytes.end(), all.begin() + patch.offset);
    }
    return patches;
  }

  template <class T>
  T get(std::uint8_t parameter, std::size_t offset = 0) const {
    T out{};
    std::memcpy(&out, memory.at(parameter).data() + offset, sizeof out);
    return out;
  }
  template <class T>
  void set(std::uint8_t parameter, std::size_t offset, T value) {
    auto& bytes = memory[parameter];
    if (bytes.size() < offset + sizeof value) bytes.resize(offset + sizeof value);
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }
  std::string text(std::uint8_t parameter, std::size_t offset = 0) const {
    return reinterpret_cast<const char*>(memory.at(parameter).data() + offset);
  }
  void put_text(std::uint8_t parameter, std::size_t offset, const std::string& value) {
    std::memcpy(memory[parameter].data() + offset, value.c_str(), value.size() + 1);
  }
};

// The layout that hipGetDeviceProperties writes, or its form R0000 or R0600.
inline const Layout& layout_of(const std::string& symbol) {
  return symbol.ends_with("R0600") ? layout_r0600() : layout_r0000();
}

inline TestCall properties_call(const std::string& symbol, int device = 0, std::byte fill = std::byte{0}) {
  const std::size_t size = layout_of(symbol).size;
  return {symbol, {0x1000, static_cast<std::uint32_t>(device)}, {{0, std::vector<std::byte>(size, fill)}}};
}
inline TestCall attribute_call(int number, std::int32_t standing, int device = 0) {
  TestCall call{
      "hipDeviceGetAttribute", {0x1000, static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(device)}, {}};
  call.set(0, 0, standing);
  return call;
}
inline TestCall text_call(const std::string& symbol, const std::string& standing, int room, int device = 0) {
  TestCall call{symbol, {0x1000, static_cast<std::uint32_t>(room), static_cast<std::uint32_t>(device)}, {}};
  call.memory[0].resize(static_cast<std::size_t>(room));
  call.put_text(0, 0, standing);
  return call;
}
inline TestCall memory_call(std::uint64_t free, std::uint64_t total) {
  TestCall call{"hipMemGetInfo", {0x1000, 0x2000}, {}};
  call.set(0, 0, free);
  call.set(1, 0, total);
  return call;
}

}  // namespace fade::probes
