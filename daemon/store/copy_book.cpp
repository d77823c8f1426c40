#include "store/copy_book.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace fade::store {
namespace {

constexpr std::int64_t kTripsWorthARow = 16;
constexpr int kWorthOfATrip = 4, kMostWorth = 64;

HostSide host_side(Place place) {
  constexpr HostSide kSides[] = {HostSide::Pageable, HostSide::None, HostSide::Pinned, HostSide::Managed};
  return kSides[static_cast<std::size_t>(place)];
}

bool on_device(Place place) { return place == Place::Device; }

// Managed memory is at its last place of use, and an address unknown to the ledger may be a device's too. So one side
// must be known to be a device.
std::int64_t way_by_places(Place source, Place destination) {
  if (source == Place::Managed || destination == Place::Managed) return copy_kind::kDefault;
  if (source == Place::Pinned && destination == Place::Pinned) return copy_kind::kHostToHost;
  const std::int64_t way = (on_device(source) ? 2 : 0) + (on_device(destination) ? 1 : 0);
  return way == copy_kind::kHostToHost ? copy_kind::kDefault : way;
}

}  // namespace

Way way_of(std::int64_t kind, Place source, Place destination) {
  if (kind == copy_kind::kDeviceToDeviceNoCu) kind = copy_kind::kDeviceToDevice;
  if (kind == copy_kind::kDefault) kind = way_by_places(source, destination);
  switch (kind) {
    case copy_kind::kHostToDevice: return {kind, host_side(source)};
    case copy_kind::kDeviceToHost: return {kind, host_side(destination)};
    case copy_kind::kHostToHost: return {kind, std::min(host_side(source), host_side(destination))};
    default: return {kind, HostSide::None};
  }
}

CopyBook::CopyBook(sqlite::Db& db, Failure& failure)
    : size_(db, failure,
            "INSERT INTO copy_size_ VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9) ON CONFLICT DO UPDATE SET n = n + excluded.n, "
            "bytes = bytes + excluded.bytes, "
            "max_bytes = max(max_bytes, excluded.max_bytes), host_ns = host_ns + excluded.host_ns"),
      trip_(db, failure, "INSERT OR REPLACE INTO copy_trip_ VALUES (?,?,?,?,?,?,?,?,?,?)") {}

void CopyBook::add_up(const Copied& c, std::uint64_t copies, std::int64_t ns) {
  const auto bucket = static_cast<std::uint8_t>(std::bit_width(static_cast<std::uint64_t>(c.bytes)));
  Sizes& sizes = sizes_[{c.process, c.function,
                         static_cast<std::int8_t>(std::clamp<std::int64_t>(c.way.kind, copy_kind::kFill, 127)),
                         c.way.host, bucket}];
  sizes.n += copies;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(c.bytes), copies, &bytes) ||
      __builtin_add_overflow(sizes.bytes, bytes, &sizes.bytes))
    sizes.bytes = ~std::uint64_t{0};
  sizes.max = std::max(sizes.max, c.bytes);
  sizes.ns += ns;
}

void CopyBook::go(const Copied& c) {
  if (c.way.kind == copy_kind::kHostToDevice) up(c);
  if (c.way.kind == copy_kind::kDeviceToHost) down(c);
}

void CopyBook::add(const Copied& c) {
  add_up(c, 1, c.ns);
  go(c);
}

void CopyBook::add(Copied c, const AlikeCalls& more) {
  add_up(c, more.calls.size(), more.ns());
  if (c.way.kind != copy_kind::kHostToDevice && c.way.kind != copy_kind::kDeviceToHost) return;
  c.call = more.first;
  for (std::size_t i = 0; i < more.calls.size(); ++i, ++c.call) {
    c.at = more.calls[i].entry_ns;
    c.ns = more.ns_of(i);
    go(c);
  }
}

void CopyBook::up(const Copied& c) {
  Pair& pair = place_of(c, c.destination);
  const std::uint64_t launches = launches_of(c.process);
  const bool same =
      pair.process == c.process && pair.device == c.destination && pair.host == c.source && pair.bytes == c.bytes;
  if (!same && --pair.worth > 0) return;
  if (same && pair.down) {
    if (pair.trips++ == 0) pair.first = pair.open_at;
    pair.launches += static_cast<std::int64_t>(launches - pair.launches_at_up);
    pair.ns += pair.open_ns;
    pair.last = c.at;
    pair.changed = true;
    pair.worth = std::min(pair.worth + kWorthOfATrip, kMostWorth);
  } else if (!same) {
    write_pair(pair);
    pair = {};
    pair.process = c.process;
    pair.device = c.destination;
    pair.host = c.source;
    pair.bytes = c.bytes;
    pair.call = c.call;
  }
  pair.down = false;
  pair.launches_at_up = launches;
  pair.open_ns = c.ns;
  pair.open_at = c.at;
}

void CopyBook::down(const Copied& c) {
  Pair& pair = place_of(c, c.source);
  if (pair.process != c.process || pair.device != c.source || pair.host != c.destination || pair.bytes != c.bytes)
    return;
  pair.down = true;
  pair.open_ns += c.ns;
}

void CopyBook::write_pair(Pair& pair) {
  if (!pair.changed || pair.trips < kTripsWorthARow) return;
  trip_(pair.process, static_cast<std::int64_t>(pair.device), static_cast<std::int64_t>(pair.host), pair.bytes,
        pair.trips, pair.launches, pair.ns, pair.first, pair.last, pair.call);
  pair.changed = false;
}

void CopyBook::end_process(ProcessRow process) {
  for (Pair& pair : pairs_) {
    if (pair.process != process) continue;
    write_pair(pair);
    pair = {};
  }
  launches_.erase(process);
  last_process_ = 0;
}

void CopyBook::flush() {
  for (const auto& [key, s] : sizes_)
    size_(key.process, key.function, key.kind, static_cast<int>(key.host), key.bucket, s.n,
          std::min<std::uint64_t>(s.bytes, std::numeric_limits<std::int64_t>::max()), s.max, s.ns);
  sizes_.clear();
  for (Pair& pair : pairs_) write_pair(pair);
}

}  // namespace fade::store
