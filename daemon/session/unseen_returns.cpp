#include "session/unseen_returns.hpp"

#include "base/recording.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostReasons = 16;  // more are counted as one

}  // namespace

void UnseenReturns::add(const std::string& reason) {
  ++total_;
  const bool has_room = by_reason_.size() < kMostReasons || by_reason_.contains(reason);
  ++by_reason_[has_room ? reason : "other reasons"].seen;
}

void UnseenReturns::report(EventSink& sink, std::int64_t now, bool at_end) {
  for (auto& [reason, count] : by_reason_) {
    if (count.seen == count.reported || (!at_end && count.seen < 2 * count.reported)) continue;
    sink.notice(Drop{.at = now, .n = count.seen - count.reported, .reason = std::string(kReturnsNotSeen) + reason});
    count.reported = count.seen;
  }
}

}  // namespace fade
