// What arrives at the daemon's socket is bytes of unknown origin: whatever they are, cutting them into messages and
// reading those ends, within bounds. The first byte says how large the pieces are in which the rest arrives.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ipc/frame.hpp"
#include "ipc/message.hpp"
#include "service/session_record.hpp"
#include "service/watch.hpp"
#include "service/worker_options.hpp"

namespace {

// From a worker, and from a file that was kept.
void read_report(const std::string& text) {
  const auto json = fade::ipc::parse_object(text);
  if (!json) return;
  fade::service::SessionRecord record;
  (void)fade::service::take_report(record, *json);
  if (const auto kept = fade::service::record_from(*json))
    FADE_CHECK(fade::service::record_from(to_json(*kept)).has_value());
}

void read_message(const std::string& text) {
  using namespace fade::ipc;
  if (const auto request = parse_request(text)) {
    // What was understood once is understood in our own words.
    FADE_CHECK(parse_request(request_text(*request)).has_value());
    (void)fade::service::worker_words(request->params);
    if (const auto rule = fade::service::rule_from(request->params))
      FADE_CHECK(fade::service::rule_from(to_json(*rule)).has_value());
  }
  if (const auto message = parse_message(text)) (void)error_text(message->id, message->error);
  (void)one_line(text);
  read_report(text);
  const std::size_t half = text.size() / 2;
  if (const auto pattern = fade::service::Pattern::parse(text.substr(0, half)))
    (void)pattern->found_in(text.substr(half));
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
