#include "cli/query/push_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "cli/push/http.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kKnownRanges = 2;

// A line of two numbers.
std::pair<std::int64_t, std::int64_t> numbers_of(const std::string& line) {
  std::pair<std::int64_t, std::int64_t> out{0, 0};
  const char* const end = line.data() + line.size();
  const auto [at, code] = std::from_chars(line.data(), end, out.first);
  if (code == std::errc() && at != end) std::from_chars(at + 1, end, out.second);
  return out;
}

}  // namespace

std::string PushRows::condition() const {
  return fmt::format("job = {} AND recording = {}", push::sql_text(session_.job), session_.recording);
}

std::string PushRows::request_id() const { return fmt::format("fade-{}-{}", session_.recording, table_.name); }

// A request of a killed program, or one whose answer was lost, may still run: its rows would not be counted.
Result<void> PushRows::learn() {
  auto running = server_.is_running(request_id());
  if (!running) return tl::unexpected(running.error());
  if (*running)
    return fail("cannot send to " + server_.address().url, "an earlier request still runs", "send again later",
                push::kUnreachable);
  auto rows = server_.select(fmt::format("SELECT intDiv(id, {}) AS part, count() FROM {} WHERE {} GROUP BY part",
                                         kRange, table_.name, condition()));
  if (!rows) return tl::unexpected(rows.error());
  ranges_.clear();
  known_.clear();
  for (const std::string& row : *rows) ranges_.insert(numbers_of(row));
  is_sure_ = true;
  return {};
}

Result<std::pair<std::int64_t, std::int64_t>> PushRows::bounds(Database& database) const {
  auto statement = database.prepare(table_.source.ids);
  if (!statement) return tl::unexpected(statement.error());
  statement->bind(":session", session_.session);
  auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  if (!*row || statement->is_null(0) || statement->is_null(1)) return std::pair<std::int64_t, std::int64_t>{0, 0};
  return std::pair{statement->integer(0), statement->integer(1) + 1};
}

Result<std::int64_t> PushRows::count(Database& database, std::int64_t from, std::int64_t to) const {
  auto statement = database.prepare("SELECT count(*) FROM (" + table_.source.rows + ")");
  if (!statement) return tl::unexpected(statement.error());
  for (const auto& [name, value] : {std::pair{":session", session_.session}, {":from", from}, {":to", to}})
    statement->bind(name, value);
  auto row = statement->step();
  if (!row) return tl::unexpected(row.error());
  return statement->integer(0);
}

Result<PushRows::Ids> PushRows::ids_on_server(std::int64_t range) {
  const auto known = known_.find(range);
  if (known != known_.end()) return known->second;
  auto numbers = server_.select_numbers(fmt::format("SELECT id FROM {} WHERE {} AND id >= {} AND id < {}", table_.name,
                                                    condition(), range * kRange, (range + 1) * kRange));
  if (!numbers) return tl::unexpected(numbers.error());
  Ids out(kRange);
  for (const std::int64_t id : *numbers)
    if (id >= range * kRange && id < (range + 1) * kRange) out[static_cast<std::size_t>(id - range * kRange)] = true;
  return out;
}

Result<void> PushRows::add_range(Database& database, push::NativeBlock& block, std::int64_t range, std::int64_t from,
                                 std::int64_t to) {
  const std::int64_t there = ranges_.contains(range) ? ranges_.at(range) : 0;
  Ids ids(kRange);
  if (there > 0) {
    auto here = count(database, from, to);
    if (!here) return tl::unexpected(here.error());
    if (*here == there) return {};
    if (*here < there)
      return fail(
          "cannot send " + table_.name,
          fmt::format("the server has {} rows of a part of this recording that has {}", there, *here),
          "two programs may have sent it at once. Delete its rows there and send again: ALTER TABLE ... DELETE");
    auto known = ids_on_server(range);
    if (!known) return tl::unexpected(known.error());
    ids = std::move(*known);
  }
  auto source =
      PushSource::prepare(database, table_, session_, {{":session", session_.session}, {":from", from}, {":to", to}});
  if (!source) return tl::unexpected(source.error());
  const std::int64_t before = block.rows(), base = range * kRange;
  Ids now = ids;
  auto filled = source->fill(block, std::numeric_limits<std::int64_t>::max(), [&](std::int64_t id) {
    const auto place = static_cast<std::size_t>(id - base);
    if (place >= ids.size() || ids[place]) return false;
    now[place] = true;
    return true;
  });
  if (!filled) return tl::unexpected(filled.error());
  if (block.rows() > before) parts_.push_back({range, block.rows() - before, std::move(now)});
  return {};
}

Result<void> PushRows::flush(push::NativeBlock& block) {
  if (block.rows() == 0) return {};
  is_sure_ = false;
  if (auto done = server_.insert(table_.into, block, request_id()); !done) return done;
  is_sure_ = true;
  for (Part& part : parts_) {
    ranges_[part.range] += part.rows;
    known_[part.range] = std::move(part.ids);
  }
  while (known_.size() > kKnownRanges) known_.erase(known_.begin());
  parts_.clear();
  block.clear();
  return {};
}

Result<std::int64_t> PushRows::send(Database& database, bool whole) {
  parts_.clear();
  if (!is_sure_)
    if (auto learned = learn(); !learned) return tl::unexpected(learned.error());
  auto range = bounds(database);
  if (!range) return tl::unexpected(range.error());
  const std::int64_t first = range->first, end = range->second, before = on_server();
  push::NativeBlock block(table_.stored);
  // Calls end later than calls that began after them, so the range before the newest one still gets rows.
  const std::int64_t from = whole ? first / kRange : std::max(first / kRange, newest_ - 1);
  for (std::int64_t at = from; at * kRange < end; ++at) {
    auto added = add_range(database, block, at, std::max(first, at * kRange), std::min(end, (at + 1) * kRange));
    if (added && block.rows() >= kFullBlock) added = flush(block);
    if (!added) return tl::unexpected(added.error());
    newest_ = std::max(newest_, at);
  }
  if (auto done = flush(block); !done) return tl::unexpected(done.error());
  return on_server() - before;
}

std::int64_t PushRows::on_server() const {
  std::int64_t out = 0;
  for (const auto& [range, rows] : ranges_) out += rows;
  return out;
}

Result<std::int64_t> PushRows::missing(Database& database) const {
  auto range = bounds(database);
  if (!range) return tl::unexpected(range.error());
  auto here = count(database, range->first, range->second);
  return here ? Result<std::int64_t>(*here - on_server()) : here;
}

Result<void> PushRows::verify(Database& database) {
  if (auto learned = learn(); !learned) return learned;
  auto lacks = missing(database);
  if (!lacks) return tl::unexpected(lacks.error());
  if (*lacks == 0) return {};
  return fail("the server does not have the rows that were sent",
              fmt::format("table {} has {} rows of this recording, and the file {}", table_.name, on_server(),
                          on_server() + *lacks),
              "send again; if there are too many rows, two programs have sent them at once");
}

}  // namespace fade::query
