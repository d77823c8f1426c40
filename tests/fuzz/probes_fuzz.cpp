// A user's .probes file and the payload of a call are bytes of unknown origin: whatever they hold, reading and
// decoding ends, within bounds. The input is the file's text, a NUL, and the payload.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "probes/call_facts.hpp"
#include "probes/decode.hpp"
#include "probes/listing.hpp"
#include "probes/syntax/parser.hpp"
#include "probes/types.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fade::probes;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), size);
  const ParsedFile file = parse(input.substr(0, end), "fuzz", built_in_types());
  if (!file.errors.empty()) error_of(file, "fuzz");

  const auto payload = std::as_bytes(std::span(data, size)).subspan(std::min(end + 1, size));
  fade::CallRecord record;
  std::memcpy(record.words.data(), payload.data(), std::min(payload.size(), sizeof record.words));
  for (const Probe& probe : file.probes) {
    prototype_of(probe);
    args_json(probe, record, payload, 6);
    decode(probe, record, payload, 5, 2);
    launch_shape(probe, record, payload);
    byte_count(probe, record, payload);
    result_text(probe, record.words[0], 7);
  }
  return 0;
}
