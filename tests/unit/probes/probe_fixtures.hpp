// Small helpers for tests of probes: a prototype as text becomes a Probe, a call is put together by hand.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event.hpp"
#include "probes/syntax/parser.hpp"
#include "probes/types.hpp"

namespace fade::probes {

inline ParsedFile parse_user(const std::string& text) {
  return parse("api hip\n" + text, "test.probes", built_in_types());
}

inline Probe probe_of(const std::string& text) {
  ParsedFile file = parse_user(text);
  for (const Diagnostic& error : file.errors)
    ADD_FAILURE() << error.at.line << ':' << error.at.column << ": " << error.message;
  return file.probes.empty() ? Probe{} : std::move(file.probes.back());
}

// The last probe of this symbol. The test fails if there is none.
inline ProbePtr probe_called(std::string_view symbol, const std::vector<ProbePtr>& probes) {
  const auto found =
      std::find_if(probes.rbegin(), probes.rend(), [&](const ProbePtr& p) { return p->symbol == symbol; });
  if (found != probes.rend()) return *found;
  ADD_FAILURE() << "no probe of " << symbol;
  return std::make_shared<const Probe>();
}

template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}
inline std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

struct Call {
  CallRecord record;
  std::vector<std::byte> payload;

  Call& word(std::size_t i, std::uint64_t value) {
    record.words[i] = value;
    return *this;
  }
  Call& piece(PieceHeader header, const std::vector<std::byte>& bytes) {
    append_piece(payload, header, bytes);
    return *this;
  }
  Call& piece(PieceKind kind, std::uint8_t param, const std::vector<std::byte>& bytes) {
    return piece(PieceHeader{.kind = kind, .param = param}, bytes);
  }
};

}  // namespace fade::probes
