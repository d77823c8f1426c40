// What arrives at the daemon's socket is bytes of unknown origin: whatever they are, cutting them into messages and
// reading those ends, within bounds. The first byte says how large the pieces are in which the rest arrives.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ipc/frame.hpp"
#include "ipc/message.hpp"

namespace {

void read_message(const std::string& text) {
  using namespace fade::ipc;
  if (const auto request = parse_request(text)) {
    // What was understood once is understood in our own words.
    FADE_CHECK(parse_request(request_text(*request)).has_value());
    (void)texts(request->params, "set");
    (void)integer(request->params, "pid");
  }
  if (const auto message = parse_message(text)) (void)error_text(message->id, message->error);
  (void)one_line(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = std::max<std::size_t>(1, data[0]);
  auto rest = std::as_bytes(std::span(data, size)).subspan(1);
  read_message({reinterpret_cast<const char*>(rest.data()), rest.size()});
  fade::ipc::FrameDecoder decoder;
  while (!rest.empty()) {
    const std::size_t n = std::min(piece, rest.size());
    if (!decoder.feed(rest.first(n))) return 0;
    rest = rest.subspan(n);
    for (auto next = decoder.next(); next && *next; next = decoder.next()) read_message(**next);
  }
  return 0;
}
