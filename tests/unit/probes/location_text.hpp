// Where a probe expects its arguments, as text: "rdi:8;[rsp+8]:4".
#pragma once
#include <fmt/format.h>

#include <string>

#include "probes/probe.hpp"

namespace fade::probes {

inline constexpr const char* kRegisters[] = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"};

inline std::string location_text(const Parameter& parameter) {
  const Location& at = parameter.at;
  std::string out;
  for (unsigned i = 0; i < (at.where == Location::Where::Stack ? 1U : at.words); ++i) {
    if (i) out += '+';
    switch (at.where) {
      case Location::Where::Integer: out += kRegisters[at.first + i]; break;
      case Location::Where::Sse: out += fmt::format("xmm{}", at.first + i); break;
      case Location::Where::Stack: out += fmt::format("[rsp+{}]", 8 * (at.first + 1)); break;
    }
  }
  return out + fmt::format(":{}", parameter.type.size);
}

inline std::string locations_text(const Probe& probe) {
  std::string out;
  for (const Parameter& parameter : probe.parameters) out += (out.empty() ? "" : ";") + location_text(parameter);
  return out;
}

}  // namespace fade::probes
