#include "cli/query/push_recording.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "base/fd.hpp"
#include "cli/rocpd/guid.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kMostBlockRows = 1 << 17;  // of a block
constexpr std::int64_t kDayNs = 86'400'000'000'000;

// Variables that name a job, the first that is set counts. FADE_JOB is the user's own.
struct JobVariable {
  const char* name;
  std::string_view kind;
};
constexpr JobVariable kJobVariables[] = {{"FADE_JOB", ""},         {"SLURM_JOB_ID", "slurm-"},
                                         {"PBS_JOBID", "pbs-"},    {"LSB_JOBID", "lsf-"},
                                         {"FLUX_JOB_ID", "flux-"}, {"TORCHELASTIC_RUN_ID", "torch-"}};

std::string job_of_environment() {
  for (const JobVariable& variable : kJobVariables) {
    const char* value = std::getenv(variable.name);
    if (value && *value && std::string_view(value) != "none") return std::string(variable.kind) + value;
  }
  return {};
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Size and change counter of the file: equal for copies, and another one after each change.
std::string stamp_of(const std::string& path) {
  constexpr off_t kChangeCounter = 24;  // https://www.sqlite.org/fileformat2.html#the_database_header
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  unsigned char counter[4] = {};
  if (!fd || ::fstat(fd.get(), &about) != 0 || ::pread(fd.get(), counter, sizeof counter, kChangeCounter) != 4)
    return {};
  return fmt::format("{}-{}", static_cast<std::int64_t>(about.st_size),
                     counter[0] << 24 | counter[1] << 16 | counter[2] << 8 | counter[3]);
}

std::string session_text(const table::Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? *text : std::string();
}

// The number of a recording: the same for each copy of the file, and from each machine.
Result<void> read_session(Database& database, PushedSession& to) {
  auto row = database.prepare("SELECT host, boot_id, boot_ns, start_ns, command FROM sessions WHERE id = :session");
  if (!row) return tl::unexpected(row.error());
  row->bind(":session", to.session);
  auto got = row->step();
  if (!got) return tl::unexpected(got.error());
  to.host = session_text(row->value(0));
  to.day = row->integer(3) / kDayNs;
  to.recording = rocpd::hash_of(fmt::format("{}\n{}\n{}\n{}\n{}", to.host, session_text(row->value(1)), row->integer(2),
                                            row->integer(3), session_text(row->value(4)))) &
                 std::numeric_limits<std::int64_t>::max();
  return {};
}

// Read again before each snapshot: processes begin while a recording goes on.
Result<void> read_ranks(Database& database, PushedSession& to) {
  auto rows = database.prepare("SELECT pid, rank FROM process_ranks WHERE session = :session AND rank IS NOT NULL");
  if (!rows) return tl::unexpected(rows.error());
  rows->bind(":session", to.session);
  for (;;) {
    auto more = rows->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    to.ranks[rows->integer(0)] = rows->integer(1);
  }
  to.rank.reset();
  const bool is_one = !to.ranks.empty() && std::ranges::all_of(to.ranks, [&](const auto& one) {
    return one.second == to.ranks.begin()->second;
  });
  if (is_one) to.rank = to.ranks.begin()->second;
  return {};
}

}  // namespace

PushRecording::PushRecording(push::Server& server, std::unique_ptr<PushedSession> session)
    : server_(&server), session_(std::move(session)) {
  for (const push::Table& table : push::tables())
    if (!table.is_snapshot) tables_.emplace_back(server, table, *session_);
}

Result<PushRecording> PushRecording::of(push::Server& server, Recording& recording, std::int64_t session,
                                        const std::string& job) {
  auto facts = std::make_unique<PushedSession>();
  facts->session = session;
  if (auto read = read_session(recording.database, *facts); !read) return tl::unexpected(read.error());
  auto removes =
      recording.database.prepare("SELECT coalesce(options, '') GLOB '*--trigger*' FROM sessions WHERE id = :session");
  if (!removes) return tl::unexpected(removes.error());
  removes->bind(":session", session);
  if (auto row = removes->step(); !row) return tl::unexpected(row.error());
  const bool keeps_rows = removes->integer(0) == 0;
  facts->job = job.empty() ? job_of_environment() : job;
  const bool has_named_job = !facts->job.empty();
  if (!has_named_job) facts->job = std::to_string(facts->recording);
  PushRecording out(server, std::move(facts));
  out.keeps_rows_ = keeps_rows;
  out.has_named_job_ = has_named_job;
  return out;
}

Result<bool> PushRecording::is_there(Recording& recording) {
  if (recording.state != State::Closed) return false;
  auto rows = server_->select(
      fmt::format("SELECT count() FROM recordings WHERE job = {} AND recording = {} AND "
                  "complete = 1 AND stamp = {}",
                  push::sql_text(session_->job), session_->recording, push::sql_text(stamp_of(recording.path))));
  if (!rows) return tl::unexpected(rows.error());
  return !rows->empty() && rows->front() != "0";
}

Result<void> PushRecording::send_rows(Recording& recording, bool whole) {
  if (auto read = read_ranks(recording.database, *session_); !read) return read;
  for (PushRows& table : tables_) {
    auto sent = table.send(recording.database, whole);
    if (!sent) return tl::unexpected(sent.error());
    rows_ += *sent;
  }
  return {};
}

Result<std::int64_t> PushRecording::send_table(Database& database, const push::Table& table,
                                               const Parameters& parameters) {
  auto source = PushSource::prepare(database, table, *session_, parameters);
  if (!source) return tl::unexpected(source.error());
  push::NativeBlock block(table.stored);
  std::int64_t rows = 0;
  for (bool more = true; more;) {
    auto filled = source->fill(block, kMostBlockRows, [](std::int64_t) { return true; });
    if (!filled) return tl::unexpected(filled.error());
    more = *filled;
    if (block.rows() == 0) break;
    const std::string id = fmt::format("fade-{}-{}-{}-{}", session_->recording, table.name, session_->snapshot, rows);
    if (auto done = server_->insert(table.into, block, id); !done) return tl::unexpected(done.error());
    rows += block.rows();
    block.clear();
  }
  return rows;
}

// All tables become visible at once.
Result<void> PushRecording::mark(const std::vector<std::pair<std::string, std::int64_t>>& tables) {
  using push::ColumnShape, push::Type;
  push::NativeBlock block({{"day", Type::Date, false, "Date"},
                           {"job", Type::String, false, "String"},
                           {"recording", Type::UInt64, false, "UInt64"},
                           {"name", Type::String, false, "String"},
                           {"snapshot", Type::Int64, false, "Int64"},
                           {"rows", Type::Int64, false, "Int64"},
                           {"pushed_ns", Type::Int64, false, "Int64"}});
  for (const auto& [name, rows] : tables) {
    block.column(0).add(session_->day);
    block.column(1).add(std::string_view(session_->job));
    block.column(2).add(session_->recording);
    block.column(3).add(std::string_view(name));
    block.column(4).add(session_->snapshot);
    block.column(5).add(rows);
    block.column(6).add(now_ns());
    block.end_row();
  }
  return server_->insert("snapshots", block, fmt::format("fade-{}-{}", session_->recording, session_->snapshot));
}

// Each attempt has a number of its own, so rows of an attempt that failed are in no complete snapshot.
Result<void> PushRecording::send_snapshot(Recording& recording, bool complete) {
  auto newest =
      server_->select(fmt::format("SELECT max(snapshot) FROM snapshots WHERE recording = {}", session_->recording));
  if (!newest) return tl::unexpected(newest.error());
  std::int64_t last = session_->snapshot, there = 0;
  if (!newest->empty()) std::from_chars(newest->front().data(), newest->front().data() + newest->front().size(), there);
  session_->snapshot = std::max({now_ns(), last + 1, there + 1});
  const Parameters parameters{{":session", session_->session},
                              {":file", recording.path},
                              {":stamp", stamp_of(recording.path)},
                              {":complete", std::int64_t{complete}},
                              {":now", now_ns()}};
  std::vector<std::pair<std::string, std::int64_t>> sent;
  for (const push::Table& table : push::tables()) {
    if (!table.is_snapshot) continue;
    auto rows = send_table(recording.database, table, parameters);
    if (!rows) return tl::unexpected(rows.error());
    sent.emplace_back(table.name, *rows);
    rows_ += *rows;
  }
  return mark(sent);
}

Result<void> PushRecording::verify(Recording& recording) {
  for (PushRows& table : tables_)
    if (auto fine = table.verify(recording.database); !fine) return fine;
  return {};
}

Result<std::int64_t> PushRecording::missing(Recording& recording) const {
  std::int64_t out = 0;
  for (const PushRows& table : tables_) {
    auto one = table.missing(recording.database);
    if (!one) return one;
    out += *one;
  }
  return out;
}

}  // namespace fade::query
