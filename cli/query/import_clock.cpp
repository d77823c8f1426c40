#include "cli/query/import_clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <tuple>
#include <utility>

namespace fade::query {
namespace {

constexpr std::int64_t kNear = 5'000'000;  // a known clock this near to the one found is the same, a little off
constexpr std::int64_t kCost = 50'000;     // the two tools' views of one call begin no more than this apart
constexpr std::int64_t kLeastReach = 2'000;
constexpr std::int64_t kSampled = 5'000, kSampledOfName = 40;
constexpr std::int64_t kPairs = 400'000, kOfOneName = 1'000;
constexpr std::int64_t kWindow = 4'000;  // differences that agree
constexpr std::size_t kPeaks = 4;

// All rows of own_call or their_call that begin at the same time.
struct StagedCalls {
  std::int64_t thread = 0, n = 0, ts = 0;
  std::vector<std::int64_t> ids;
  bool is_of_group(const StagedCalls& other) const { return thread == other.thread && n == other.n; }
  bool is_before(const StagedCalls& other) const {
    return std::tie(thread, n, ts) < std::tie(other.thread, other.n, other.ts);
  }
};

// The rows of own_call or their_call in order, their times moved by `shift`.
class CallCursor {
 public:
  static Result<CallCursor> open(sqlite::Db& db, const std::string& table, std::int64_t shift) {
    auto made = db.prepare("SELECT thread, n, ts, id FROM " + table + " ORDER BY thread, n, ts, id");
    if (!made) return tl::unexpected(made.error());
    CallCursor out(std::move(*made), shift);
    if (auto row = out.rows_.step(); !row) return tl::unexpected(row.error());
    else out.has_row_ = *row;
    if (auto done = out.next(); !done) return tl::unexpected(done.error());
    return out;
  }
  const std::optional<StagedCalls>& now() const { return now_; }
  Result<void> next() {
    now_.reset();
    while (has_row_) {
      StagedCalls row{rows_.integer(0), rows_.integer(1), rows_.integer(2) + shift_, {rows_.integer(3)}};
      if (!now_) now_ = std::move(row);
      else if (now_->is_of_group(row) && now_->ts == row.ts) now_->ids.push_back(row.ids.front());
      else return {};
      auto more = rows_.step();
      if (!more) return tl::unexpected(more.error());
      has_row_ = *more;
    }
    return {};
  }

 private:
  CallCursor(sqlite::Stmt rows, std::int64_t shift) : rows_(std::move(rows)), shift_(shift) {}
  sqlite::Stmt rows_;
  std::int64_t shift_;
  bool has_row_ = false;
  std::optional<StagedCalls> now_;
};

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t reach_of(const std::vector<std::int64_t>& apart) {
  const std::int64_t centre = median(apart);
  std::vector<std::int64_t> spread;
  for (const std::int64_t a : apart) spread.push_back(std::abs(a - centre));
  return std::clamp(8 * median(std::move(spread)), kLeastReach, kCost);
}

// The middles of the windows with the most values, the fullest first, and no two of them close to each other.
std::vector<std::int64_t> peaks_of(std::vector<std::int64_t> values, std::size_t most) {
  std::ranges::sort(values);
  std::vector<std::pair<std::size_t, std::int64_t>> windows;
  for (std::size_t first = 0, last = 0; first < values.size(); ++first) {
    while (last < values.size() && values[last] - values[first] <= kWindow) ++last;
    windows.emplace_back(last - first, values[first + (last - first) / 2]);
  }
  std::ranges::stable_sort(windows, std::greater(), [](const auto& w) { return w.first; });
  std::vector<std::int64_t> out;
  for (const auto& [n, middle] : windows) {
    if (out.size() >= most) break;
    if (std::ranges::none_of(out, [at = middle](std::int64_t o) { return std::abs(o - at) <= 2 * kWindow; }))
      out.push_back(middle);
  }
  return out;
}

// How well the calls of both sides agree by a shift. Only the time counts in which fade recorded calls of that name.
struct Fit {
  std::int64_t shift = 0, bias = 0;
  std::int64_t sampled = 0, common = 0, fits = 0;
  std::vector<std::int64_t> apart;  // of those that fit: how much later fade saw them, less the bias
  bool differs_from(const Fit& other) const { return std::abs(shift + bias - other.shift - other.bias) > kWindow; }
  bool holds() const {
    return fits >= std::min<std::int64_t>(sampled, 3) && 3 * fits >= 2 * common && 50 * fits >= sampled;
  }
};

// A file's call, and the begins of fade's nearest calls of the same thread and name on both sides of it.
struct Neighbours {
  std::int64_t at = 0;
  std::optional<std::int64_t> before, after;
  std::int64_t nearest() const {
    if (!before || !after) return (before ? *before : *after) - at;
    return at - *before < *after - at ? *before - at : *after - at;
  }
  // Any call is near another one where calls are frequent. So only a small part of the time between two calls counts.
  bool fits() const {
    return std::abs(nearest()) <=
           std::min(kCost, !before || !after ? kLeastReach : std::max<std::int64_t>((*after - *before) / 5, 200));
  }
};

// Each name has as many calls in the sample.
class SampledCalls {
 public:
  explicit SampledCalls(sqlite::Db& db) : db_(db) {}
  Result<void> prepare();
  // The bias is what most calls agree on, up to the cost of both tools.
  Result<Fit> fit(std::int64_t shift);

 private:
  Result<std::vector<Neighbours>> neighbours(std::int64_t shift);
  Result<std::optional<std::int64_t>> one(sqlite::Stmt& of, const std::array<std::int64_t, 3>& call);

  struct Call {
    std::int64_t thread = 0, n = 0, ts = 0;
  };
  sqlite::Db& db_;
  std::vector<Call> calls_;
  sqlite::Stmt after_, before_;
};

Result<void> SampledCalls::prepare() {
  auto sample = db_.prepare(
      "SELECT thread, n, ts FROM (SELECT *, row_number() OVER (PARTITION BY thread, n ORDER BY ts) AS k, "
      "count(*) OVER (PARTITION BY thread, n) AS of_name FROM their_call) "
      "WHERE (k - 1) % max(1, of_name / ?2) = 0 LIMIT ?1");
  auto after = db_.prepare("SELECT ts FROM own_call WHERE thread = ? AND n = ? AND ts >= ? ORDER BY ts LIMIT 1");
  auto before = db_.prepare("SELECT ts FROM own_call WHERE thread = ? AND n = ? AND ts < ? ORDER BY ts DESC LIMIT 1");
  if (!sample || !after || !before) return tl::unexpected(db_.error("cannot compare the calls"));
  after_ = std::move(*after), before_ = std::move(*before);
  sample->bind(kSampled, kSampledOfName);
  for (;;) {
    auto row = sample->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return {};
    calls_.push_back({sample->integer(0), sample->integer(1), sample->integer(2)});
  }
}

Result<std::optional<std::int64_t>> SampledCalls::one(sqlite::Stmt& of, const std::array<std::int64_t, 3>& call) {
  of.bind(call[0], call[1], call[2]);
  auto found = of.step();
  if (!found) return tl::unexpected(found.error());
  const std::optional<std::int64_t> out = *found ? std::optional(of.integer(0)) : std::nullopt;
  of.reset();
  return out;
}

Result<std::vector<Neighbours>> SampledCalls::neighbours(std::int64_t shift) {
  std::vector<Neighbours> out;
  for (const Call& call : calls_) {
    const std::array<std::int64_t, 3> key{call.thread, call.n, call.ts + shift};
    auto after = one(after_, key), before = one(before_, key);
    if (!after || !before) return tl::unexpected(db_.error("cannot compare the calls"));
    if (*after || *before) out.push_back({key[2], *before, *after});
  }
  return out;
}

Result<Fit> SampledCalls::fit(std::int64_t shift) {
  auto raw = neighbours(shift);
  if (!raw) return tl::unexpected(raw.error());
  std::vector<std::int64_t> apart;
  for (const Neighbours& n : *raw)
    if (std::abs(n.nearest()) <= kCost) apart.push_back(n.nearest());
  Fit out{.shift = shift, .sampled = static_cast<std::int64_t>(calls_.size())};
  if (apart.empty()) return out;
  out.bias = peaks_of(std::move(apart), 1).front();
  auto moved = neighbours(shift + out.bias);
  if (!moved) return tl::unexpected(moved.error());
  for (const Neighbours& n : *moved) {
    const bool fits = n.fits();
    out.common += fits || (n.before && n.after);
    if (!fits) continue;
    ++out.fits;
    out.apart.push_back(n.nearest());
  }
  return out;
}

// Each pair of calls with thread and name in common says by how much the clocks may differ. The right shift has the
// most pairs. Rare names come first, because they have the fewest wrong pairs.
class ShiftVotes {
 public:
  explicit ShiftVotes(sqlite::Db& db) : db_(db) {}
  Result<std::vector<std::int64_t>> peaks();

 private:
  Result<void> add_group(std::int64_t thread, std::int64_t n);

  sqlite::Db& db_;
  std::vector<std::int64_t> differences_;
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
  }
}

Result<std::vector<std::int64_t>> ShiftVotes::peaks() {
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
    if (auto done = add_group(groups->integer(0), groups->integer(1)); !done) return tl::unexpected(done.error());
  }
  return peaks_of(std::move(differences_), kPeaks);
}

ClockShift shift_of(const Fit& fit, std::string word) {
  return {std::move(word), fit.shift, fit.bias, reach_of(fit.apart)};
}

// The first known clock that holds, if calls fit better by no other shift.
std::optional<ClockShift> known_clock(const std::vector<KnownClock>& known, const std::vector<Fit>& fits) {
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto is_better = [&](const Fit& fit) { return fit.differs_from(fits[i]) && fit.fits > fits[i].fits; };
    if (fits[i].holds() && std::ranges::none_of(fits, is_better)) return shift_of(fits[i], known[i].word);
  }
  return std::nullopt;
}

// The shift that fits best, unless another one fits nearly as well: then either may be right.
std::optional<ClockShift> found_clock(const std::vector<KnownClock>& known, const std::vector<Fit>& found) {
  const auto best = std::ranges::max_element(found, {}, &Fit::fits);
  if (best == found.end() || !best->holds() || best->fits < 3) return std::nullopt;
  const auto is_rival = [&](const Fit& fit) { return fit.differs_from(*best) && 10 * fit.fits >= 9 * best->fits; };
  if (std::ranges::any_of(found, is_rival)) return std::nullopt;
  Fit out = *best;
  out.shift += std::exchange(out.bias, 0);
  for (const KnownClock& clock : known)
    if (std::abs(clock.shift - out.shift) <= kNear)
      return shift_of(out, clock.word + ", corrected by calls that both saw");
  return shift_of(out, "found by calls that both saw");
}

// Two calls are the same if each is the other's nearest, by far, of its thread and name: one side may lack calls.
class CallTies {
 public:
  CallTies(sqlite::Stmt tie, std::int64_t reach) : tie_(std::move(tie)), reach_(reach) {}
  Result<void> run(CallCursor& own, CallCursor& theirs);

 private:
  static bool is_alone(const std::optional<StagedCalls>& other, const StagedCalls& call, std::int64_t distance) {
    return !other || !other->is_of_group(call) || std::abs(other->ts - call.ts) > 3 * distance;
  }
  Result<void> pair(const StagedCalls& own, const StagedCalls& their);

  sqlite::Stmt tie_;
  std::int64_t reach_;
};

// Calls that begin at the same time are the same in their order, if there are as many of both.
Result<void> CallTies::pair(const StagedCalls& own, const StagedCalls& their) {
  if (own.ids.size() != their.ids.size()) return {};
  for (std::size_t i = 0; i < own.ids.size(); ++i) {
    tie_.bind(their.ids[i], own.ids[i], std::abs(own.ts - their.ts));
    if (auto done = tie_.run(); !done) return done;
  }
  return {};
}

// Calls that are each other's nearest are neighbours in the order of both sides' calls.
Result<void> CallTies::run(CallCursor& own, CallCursor& theirs) {
  CallCursor* const sides[] = {&own, &theirs};
  std::optional<StagedCalls> last[2];
  for (int previous = -1; own.now() || theirs.now();) {
    const int side = !theirs.now() || (own.now() && !theirs.now()->is_before(*own.now())) ? 0 : 1;
    const int other = 1 - side;
    const StagedCalls call = *sides[side]->now();
    if (auto done = sides[side]->next(); !done) return done;
    if (previous == other && last[other]->is_of_group(call)) {
      const StagedCalls& before = *last[other];
      const std::int64_t distance = call.ts - before.ts;
      if (distance <= reach_ && is_alone(last[side], before, distance) && is_alone(sides[other]->now(), call, distance))
        if (auto done = side == 0 ? pair(call, before) : pair(before, call); !done) return done;
    }
    last[side] = call;
    previous = side;
  }
  return {};
}

// A launch whose work in the file is another kernel of the program is another call.
constexpr std::string_view kDropOtherKernels = R"(
CREATE TEMP TABLE sole_kernel (pid INTEGER, corr INTEGER, name TEXT, mangled TEXT,
  PRIMARY KEY (pid, corr)) WITHOUT ROWID;
INSERT INTO sole_kernel SELECT pid, corr, min(name), min(mangled) FROM in_work WHERE corr <> 0 GROUP BY pid, corr
  HAVING count(*) = 1 AND min(is_kernel) = 1;
DELETE FROM tie WHERE id IN (
  SELECT t.id FROM tie t JOIN in_call c ON c.id = t.id AND c.corr <> 0
  JOIN sole_kernel w ON w.pid = c.pid AND w.corr = c.corr
  JOIN main.call_ o ON o.id = t.call JOIN main.launch_ l ON l.id = o.launch JOIN main.kernel_ k ON k.id = l.kernel
  WHERE w.name NOT IN (k.name, coalesce(k.demangled, k.name)) AND w.mangled <> k.name
    AND EXISTS (SELECT 1 FROM main.kernel_ x WHERE x.session = k.session
                AND (x.name IN (w.name, w.mangled) OR x.demangled = w.name)));)";

}  // namespace

Result<ClockShift> find_clock(sqlite::Db& db, const std::vector<KnownClock>& known) {
  auto common = db.integer("SELECT EXISTS (SELECT 1 FROM own_call) AND EXISTS (SELECT 1 FROM their_call)");
  if (!common) return tl::unexpected(common.error());
  if (*common == 0) return ClockShift{known.front().word, known.front().shift, 0, kLeastReach};
  SampledCalls calls(db);
  if (auto done = calls.prepare(); !done) return tl::unexpected(done.error());
  auto peaks = ShiftVotes(db).peaks();
  if (!peaks) return tl::unexpected(peaks.error());
  std::vector<std::int64_t> shifts;
  for (const KnownClock& clock : known) shifts.push_back(clock.shift);
  shifts.insert(shifts.end(), peaks->begin(), peaks->end());
  std::vector<Fit> fits;
  for (const std::int64_t shift : shifts) {
    auto fit = calls.fit(shift);
    if (!fit) return tl::unexpected(fit.error());
    fits.push_back(std::move(*fit));
  }
  const auto own = static_cast<std::ptrdiff_t>(known.size());
  if (auto clock = known_clock(known, fits)) return *clock;
  if (auto clock = found_clock(known, {fits.begin() + own, fits.end()})) return *clock;
  return fail("", "its calls do not fit the recording's in time, or fit at several times",
              "is it of the same run? Both must have recorded the same calls of a thread");
}

Result<void> tie_calls(sqlite::Db& db, const ClockShift& clock) {
  auto theirs = CallCursor::open(db, "their_call", clock.shift + clock.bias), own = CallCursor::open(db, "own_call", 0);
  auto tie = db.prepare("INSERT INTO tie VALUES (?,?,?)");
  if (!theirs || !own || !tie) return tl::unexpected(db.error("cannot compare the calls"));
  if (auto done = CallTies(std::move(*tie), clock.reach).run(*own, *theirs); !done) return done;
  return db.exec(kDropOtherKernels);
}

}  // namespace fade::query
