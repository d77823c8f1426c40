#include "live/call_time.hpp"

#include <variant>

#include "base/human.hpp"

namespace fade::live {

void CallTime::on(const Notice& notice) {
  if (const auto* cost = std::get_if<CostMeasured>(&notice)) {
    least_.measured(*cost);
    if (cost->form == "jump" && cost->calls > 0) own_ns_ = cost->call_ns;
  }
  if (const auto* cost = std::get_if<ThreadCost>(&notice)) least_.stopped(*cost);
}

std::int64_t CallTime::of(const CallRecord& record) const {
  const std::int64_t raw = record.exit_ns - record.entry_ns;
  const bool has_both_stops = (record.flags & kReturned) && !(record.flags & kTapped);
  if (!has_both_stops || own_ns_ == 0) return raw;
  return raw - own_ns_ < least_.ns() ? 0 : raw - own_ns_;
}

std::string CallTime::text(const CallRecord& record, bool utf8) const {
  const std::int64_t ns = of(record);
  return ns == 0 ? std::string(kBelowMeasure) : human_duration(ns, utf8);
}

}  // namespace fade::live
