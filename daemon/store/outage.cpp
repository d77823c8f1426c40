#include "store/outage.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "base/log.hpp"

namespace fade::store {
namespace {

constexpr std::int64_t kWorthTelling = 1'000'000'000;  // a shorter one that costs no call is not told

std::int64_t ns_of(std::chrono::nanoseconds time) { return time.count(); }

}  // namespace

bool Outage::is_lock(const Error& error) {
  const int primary = error.code & 0xff;
  return primary == SQLITE_BUSY || primary == SQLITE_PROTOCOL;
}

bool Outage::goes_on(std::int64_t since) {
  const std::int64_t now = clock_.now();
  if (!from_) {
    from_ = since;
    queue_.stall(kProgramWaits);
  }
  if (!said_ && now - *from_ >= kWorthTelling) {
    said_ = true;
    log::info("{} is locked by another process; calls wait in memory until it is free", path_);
  }
  if (queue_.discards()) return false;
  if (!queue_.closed()) return true;
  if (!last_call_) last_call_ = now;
  return now - *last_call_ < ns_of(kEndWaits);
}

std::optional<Outage::Report> Outage::end() {
  if (!from_) return {};
  const Report report{*from_, clock_.now() - *from_, queue_.resume()};
  from_.reset();
  if (report.refused == 0 && report.duration < kWorthTelling) return {};
  if (std::exchange(said_, false) || report.refused > 0) log::info("{}: {}", path_, report.text());
  return report;
}

std::string Outage::Report::text() const {
  const double seconds = static_cast<double>(duration) / 1e9;
  const std::string cost = refused == 0
                               ? "every call was kept"
                               : fmt::format("{} {} not recorded", refused, refused == 1 ? "call was" : "calls were");
  return fmt::format("another process had the database locked for {:.1f} s; {}", seconds, cost);
}

}  // namespace fade::store
