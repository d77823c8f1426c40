#include "cli/query/import_clock.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace fade::query {
namespace {

constexpr std::int64_t kNear = 5'000'000;  // the two tools' views of one call are no more than this apart
constexpr std::int64_t kLeastReach = 50'000;
constexpr std::int64_t kSampled = 5'000, kSampledOfName = 40;
constexpr std::int64_t kPairs = 400'000, kOfOneName = 2'000;
constexpr std::int64_t kBucket = 1'000'000;

struct StagedCall {
  std::int64_t thread = 0, n = 0, ts = 0, id = 0;
  bool is_of_group(const StagedCall& other) const { return thread == other.thread && n == other.n; }
  bool is_group_before(const StagedCall& other) const {
    return thread != other.thread ? thread < other.thread : n < other.n;
  }
};

// The rows of own_call or their_call in order, one at a time.
class CallCursor {
 public:
  static Result<CallCursor> open(sqlite::Db& db, const std::string& table) {
    auto made = db.prepare("SELECT thread, n, ts, id FROM " + table + " ORDER BY thread, n, ts, id");
    if (!made) return tl::unexpected(made.error());
    CallCursor out(std::move(*made));
    if (auto done = out.next(); !done) return tl::unexpected(done.error());
    return out;
  }
  const std::optional<StagedCall>& now() const { return now_; }
  Result<void> next() {
    auto row = rows_.step();
    if (!row) return tl::unexpected(row.error());
    now_.reset();
    if (*row) now_ = StagedCall{rows_.integer(0), rows_.integer(1), rows_.integer(2), rows_.integer(3)};
    return {};
  }

 private:
  explicit CallCursor(sqlite::Stmt rows) : rows_(std::move(rows)) {}
  sqlite::Stmt rows_;
  std::optional<StagedCall> now_;
};

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t reach_of(const std::vector<std::int64_t>& apart, std::int64_t centre) {
  std::vector<std::int64_t> spread;
  for (const std::int64_t a : apart) spread.push_back(std::abs(a - centre));
  return std::clamp(8 * median(std::move(spread)), kLeastReach, kNear);
}

// A known clock is exact, unless the calls are further apart than the cost of both tools explains.
ClockShift by_known(const KnownClock& clock, const std::vector<std::int64_t>& apart) {
  const std::int64_t centre = median(apart);
  const bool is_cost = std::abs(centre) <= kLeastReach;
  return {is_cost ? clock.word : clock.word + ", corrected by calls that both saw",
          clock.shift + (is_cost ? 0 : centre), is_cost ? centre : 0, reach_of(apart, centre)};
}

// The middle of the values that lie closest together: pairs of different calls lie anywhere.
std::int64_t densest(std::vector<std::int64_t> values) {
  constexpr std::int64_t kWidth = 20'000;
  std::ranges::sort(values);
  std::size_t best = 0, most = 0;
  for (std::size_t first = 0, last = 0; first < values.size(); ++first) {
    while (last < values.size() && values[last] - values[first] <= kWidth) ++last;
    if (last - first > most) best = first, most = last - first;
  }
  return values[best + most / 2];
}

// How much later fade's nearest call of the same thread and name begins, for a sample of the file's calls. Each name
// has as many in it: a frequent call has a neighbour by whatever clock.
Result<std::vector<std::int64_t>> nearest(sqlite::Db& db, std::int64_t shift, std::int64_t& sampled) {
  auto sample = db.prepare(
      "SELECT thread, n, ts FROM (SELECT *, row_number() OVER (PARTITION BY thread, n ORDER BY ts) AS k, "
      "count(*) OVER (PARTITION BY thread, n) AS of_name FROM their_call) "
      "WHERE (k - 1) % max(1, of_name / ?2) = 0 LIMIT ?1");
  auto after = db.prepare("SELECT ts FROM own_call WHERE thread = ? AND n = ? AND ts >= ? ORDER BY ts LIMIT 1");
  auto before = db.prepare("SELECT ts FROM own_call WHERE thread = ? AND n = ? AND ts < ? ORDER BY ts DESC LIMIT 1");
  if (!sample || !after || !before) return tl::unexpected(db.error("cannot compare the calls"));
  sample->bind(kSampled, kSampledOfName);
  std::vector<std::int64_t> out;
  for (sampled = 0;; ++sampled) {
    auto row = sample->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return out;
    const std::int64_t at = sample->integer(2) + shift;
    std::optional<std::int64_t> best;
    for (sqlite::Stmt* side : {&*after, &*before}) {
      side->bind(sample->integer(0), sample->integer(1), at);
      auto found = side->step();
      if (!found) return tl::unexpected(found.error());
      if (*found && (!best || std::abs(side->integer(0) - at) < std::abs(*best))) best = side->integer(0) - at;
      side->reset();
    }
    if (best && std::abs(*best) <= kNear) out.push_back(*best);
  }
}

// Each pair of calls with thread and name in common says by how much the clocks may differ. The right shift has the
// most pairs. Rare names come first, because they have the fewest wrong pairs.
class ShiftVotes {
 public:
  explicit ShiftVotes(sqlite::Db& db) : db_(db) {}
  Result<std::optional<ClockShift>> count();

 private:
  Result<void> add_group(std::int64_t thread, std::int64_t n);
  std::int64_t votes_around(std::int64_t bucket) const;

  sqlite::Db& db_;
  std::vector<std::int64_t> differences_;
  std::unordered_map<std::int64_t, std::int64_t> votes_;
  std::int64_t calls_ = 0;
};

Result<void> ShiftVotes::add_group(std::int64_t thread, std::int64_t n) {
  auto pairs = db_.prepare(
      "SELECT o.ts - t.ts FROM (SELECT ts FROM their_call WHERE thread = ?1 AND n = ?2 LIMIT ?3) t, "
      "(SELECT ts FROM own_call WHERE thread = ?1 AND n = ?2 LIMIT ?3) o");
  if (!pairs) return tl::unexpected(pairs.error());
  pairs->bind(thread, n, kOfOneName);
  for (;;) {
    auto row = pairs->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    differences_.push_back(pairs->integer(0));
    ++votes_[pairs->integer(0) / kBucket];
  }
}

std::int64_t ShiftVotes::votes_around(std::int64_t bucket) const {
  std::int64_t out = 0;
  for (const std::int64_t b : {bucket, bucket + 1})
    if (const auto found = votes_.find(b); found != votes_.end()) out += found->second;
  return out;
}

Result<std::optional<ClockShift>> ShiftVotes::count() {
  auto groups = db_.prepare(
      "SELECT t.thread, t.n, t.c, o.c FROM (SELECT thread, n, count(*) AS c FROM their_call GROUP BY thread, n) t "
      "JOIN (SELECT thread, n, count(*) AS c FROM own_call GROUP BY thread, n) o USING (thread, n) ORDER BY t.c * o.c");
  if (!groups) return tl::unexpected(groups.error());
  for (std::int64_t pairs = 0; pairs < kPairs;) {
    auto row = groups->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) break;
    const std::int64_t theirs = std::min(groups->integer(2), kOfOneName),
                       ours = std::min(groups->integer(3), kOfOneName);
    if (pairs > 0 && pairs + theirs * ours > kPairs) break;
    pairs += theirs * ours;
    calls_ += theirs;
    if (auto done = add_group(groups->integer(0), groups->integer(1)); !done) return tl::unexpected(done.error());
  }
  std::int64_t best = 0, most = 0;
  for (const auto& [bucket, n] : votes_)
    if (const std::int64_t around = votes_around(bucket); around > most) best = bucket, most = around;
  std::int64_t second = 0;
  for (const auto& [bucket, n] : votes_)
    if (std::abs(bucket - best) > 10) second = std::max(second, votes_around(bucket));
  if (2 * most < calls_ || 10 * second >= 9 * most) return std::optional<ClockShift>();
  std::vector<std::int64_t> apart;
  for (const std::int64_t d : differences_)
    if (d / kBucket == best || d / kBucket == best + 1) apart.push_back(d);
  return std::optional(ClockShift{"found by calls that both saw", densest(std::move(apart)), 0, kLeastReach});
}

}  // namespace

Result<ClockShift> find_clock(sqlite::Db& db, const std::vector<KnownClock>& known) {
  auto common = db.integer("SELECT EXISTS (SELECT 1 FROM own_call) AND EXISTS (SELECT 1 FROM their_call)");
  if (!common) return tl::unexpected(common.error());
  if (*common == 0) return ClockShift{known.front().word, known.front().shift, 0, kLeastReach};
  for (const KnownClock& clock : known) {
    std::int64_t sampled = 0;
    auto apart = nearest(db, clock.shift, sampled);
    if (!apart) return tl::unexpected(apart.error());
    if (!apart->empty() && 2 * static_cast<std::int64_t>(apart->size()) >= sampled) return by_known(clock, *apart);
  }
  auto found = ShiftVotes(db).count();
  if (!found) return tl::unexpected(found.error());
  if (*found) return **found;
  return fail("", "its calls do not fit the recording's in time",
              "is it of the same run? Both must have recorded the same calls of a thread");
}

// Both sides are in order of time. A call of the file belongs to the nearest one of fade's that no earlier one took.
Result<void> tie_calls(sqlite::Db& db, const ClockShift& clock) {
  auto theirs = CallCursor::open(db, "their_call"), own = CallCursor::open(db, "own_call");
  auto tie = db.prepare("INSERT INTO tie VALUES (?,?,?)");
  if (!theirs || !own || !tie) return tl::unexpected(db.error("cannot compare the calls"));
  std::optional<StagedCall> candidate;
  for (; theirs->now();) {
    const StagedCall their = *theirs->now();
    const std::int64_t at = their.ts + clock.shift + clock.bias;
    if (candidate && !candidate->is_of_group(their)) candidate.reset();
    const auto distance = [&](const StagedCall& call) { return std::abs(call.ts - at); };
    while (own->now() &&
           (own->now()->is_group_before(their) ||
            (own->now()->is_of_group(their) && (!candidate || distance(*own->now()) <= distance(*candidate))))) {
      if (own->now()->is_of_group(their)) candidate = own->now();
      if (auto done = own->next(); !done) return done;
    }
    if (candidate && distance(*candidate) <= clock.reach) {
      tie->bind(their.id, candidate->id, distance(*candidate));
      if (auto done = tie->run(); !done) return done;
      candidate.reset();
    }
    if (auto done = theirs->next(); !done) return done;
  }
  return {};
}

}  // namespace fade::query
