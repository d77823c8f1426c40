// Calls without a record of their own: the recording is the same as with a record for each of them.
#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "base/call_batch.hpp"
#include "probes/call_facts.hpp"
#include "store/call_family.hpp"
#include "store/wait_book.hpp"
#include "store_fixture.hpp"

namespace fade::store {
namespace {

// Runs the same random program into two recordings. The queue of one gets a record for each call.
class Twin {
 public:
  Twin(WriterOptions options, bool as_records) : as_records_(as_records) {
    options.path = path;
    auto opened = Writer::open(options, {.cwd = "/home", .command = {"prog"}}, queue_);
    EXPECT_TRUE(opened);
    writer_ = std::move(*opened);
    writer_->start();
    begin();
    for (int i = 0; i < 3000; ++i) step();
    end();
    totals = writer_->finish();
  }

  TemporaryDirectory directory;
  const std::string path = directory.file("r.db");
  Totals totals;

 private:
  static constexpr const char* kWithBooks[] = {"hipMemcpy",       "hipMemcpyAsync",    "hipMemsetAsync",
                                               "hipLaunchKernel", "hipGetDeviceCount", "hipDeviceGetAttribute",
                                               "hipGetDevice",    "hipEventRecord"};

  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_()) % end; }
  void begin() {
    queue_.notice(CostMeasured{.form = "jump", .calls = 100, .call_ns = 300, .call_spread_ns = 5, .stop_ns = 900});
    queue_.notice(CostMeasured{.form = "tap", .calls = 100, .call_ns = 90, .call_spread_ns = 2, .stop_ns = 120});
    for (std::uint32_t p = 1; p <= 2; ++p) tracee_.process(ProcessId::of(p), Pid::of(static_cast<pid_t>(100 + p)));
    for (std::uint32_t t = 1; t <= 4; ++t)
      tracee_.thread(ThreadId::of(t), ProcessId::of(1 + t % 2), Tid::of(static_cast<pid_t>(200 + t)));
    for (const char* symbol : {"hipStreamQuery", "hipPeekAtLastError", "hipMemcpy", "hipMalloc"})
      tracee_.function(symbol);
    for (const char* symbol : kWithBooks) tracee_.function(symbol);
  }
  void end() {
    queue_.notice(ThreadEnded{ThreadId::of(3u), now_ += 10});
    flush();
    queue_.notice(Postmortem{.postmortem = 1, .process = 1, .thread = 2, .at = now_ += 10});
    queue_.notice(ThreadSeen{.postmortem = 1, .thread = 2, .at = now_});
  }
  void step() {
    const std::uint32_t what = below(40);
    if (what == 0) now_ += 700'000'000;  // another second, and a gap
    if (what == 1) now_ += 5'000'000;
    if (what == 2 || what == 3) flush();
    if (what == 4 && sites_ < 6) add_site();
    if (what == 5) nested();
    if (what == 6) fail();
    if (what == 7) capture();
    if (what == 8) other(below(3));
    if (what == 9) trip();
    if (what > 20) like_another();
    for (std::uint32_t i = below(9); i > 0; --i) leaf(0);
  }
  void add_site() {
    flush();
    const auto site = CallSiteId::of(++sites_);
    queue_.notice(
        CallSiteSeen{.site = site, .process = 1, .address = sites_, .library = sites_ % 2 ? "/a.so" : "/b.so"});
  }
  void leaf(CallId parent, std::uint32_t thread = 0) {
    const SummedLane lane{.thread = ThreadId::of(thread ? thread : 1 + below(4)),
                          .function = FunctionId::of(1 + below(2)),
                          .caller = CallSiteId::of(below(sites_ + 1)),
                          .parent = parent,
                          .flags = static_cast<std::uint16_t>(kTapped | kReturned | (below(2) ? kSumsOnly : 0))};
    const std::uint32_t ns = 1 + below(1000) * (below(50) == 0 ? 900 : 1);
    calls_.add(CallId::of(++last_id_), {now_ += 1 + below(500), ns, calls_.lane(lane)});
  }
  CallRecord record(std::uint32_t function) {
    return {.id = CallId::of(++last_id_),
            .entry_ns = now_ += 10,
            .function = FunctionId::of(function),
            .thread = ThreadId::of(2u),
            .flags = kTapped | kReturned};
  }
  void nested() {
    CallRecord outer = record(3);
    outer.words = {0xd00, 0x500, 4096, 1};
    for (int i = 0; i < 3; ++i) leaf(outer.id, 2);
    for (int i = 0; i < 3; ++i) with_book(outer.id, 2, 1 + below(3));
    outer.exit_ns = now_ + 2'000'000;
    calls_.add(outer, {});
  }
  void fail() {
    CallRecord failed = record(1);
    failed.exit_ns = now_ + 50;
    failed.result = 1;
    failed.flags |= kFailed;
    calls_.add(failed, {});
  }
  // Calls of functions with a book, one or several times with the same arguments.
  void like_another() { with_book(0, 1 + below(4), 1 + below(6)); }
  void with_book(CallId parent, std::uint32_t thread, std::uint32_t times) {
    const char* const symbol = kWithBooks[below(std::size(kWithBooks))];
    SummedLane lane{.thread = ThreadId::of(thread),
                    .function = tracee_.function(symbol),
                    .caller = CallSiteId::of(below(sites_ + 1)),
                    .parent = parent,
                    .flags = static_cast<std::uint16_t>(kTapped | kReturned | (below(2) ? kSumsOnly : 0)),
                    .words = words_of(symbol)};
    add(lane, payload_of(symbol), times);
  }
  void add(const SummedLane& lane, const std::vector<std::byte>& payload, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i)
      calls_.add(CallId::of(++last_id_),
                 {now_ += 1 + below(100'000) * (below(3) == 0), 1 + below(900), calls_.lane(lane, payload)});
    now_ += 1000;
  }
  // A buffer goes up to the device and comes back.
  void trip() {
    SummedLane lane{.thread = 1,
                    .function = tracee_.function("hipMemcpy"),
                    .flags = kTapped | kReturned | kSumsOnly,
                    .words = {0xdf00, 0x5f00, 4096, 1}};
    add(lane, {}, 1 + below(3));
    lane.words = {0x5f00, 0xdf00, 4096, 2};
    add(lane, {}, 1 + below(3));
  }
  std::array<std::uint64_t, 6> words_of(std::string_view symbol) {
    const std::uint64_t device = 0xd000 + 0x100 * below(3), host = 0x5000 + 0x100 * below(3), bytes = 16u << below(20);
    const bool is_up = below(2);
    if (symbol.starts_with("hipMemcpy"))
      return {is_up ? device : host, is_up ? host : device, bytes, is_up ? 1u + 3 * below(2) : below(5), stream()};
    if (symbol == "hipMemsetAsync") return {device, 0, bytes, stream()};
    if (symbol == "hipLaunchKernel") return {0xf00 + below(3), 1ull << 32 | (1 + below(2)), 1, 1ull << 32 | 64, 1, 0};
    if (symbol == "hipDeviceGetAttribute") return {0, 1 + below(3), below(2)};
    if (symbol == "hipEventRecord") return {0xe00 + below(2), stream()};
    return {};
  }
  std::vector<std::byte> payload_of(std::string_view symbol) {
    std::vector<std::byte> out;
    const auto piece = [&](PieceKind kind, const auto& value) {
      append_piece(out, {.kind = kind}, std::as_bytes(std::span(&value, 1)));
    };
    if (symbol == "hipLaunchKernel") piece(PieceKind::Stack, std::array<std::uint64_t, 2>{512, stream()});
    if (symbol.starts_with("hipGetDevice") || symbol.starts_with("hipDeviceGet"))
      piece(PieceKind::Out, std::int32_t(below(2)));
    return out;
  }
  std::uint64_t stream() { return std::array<std::uint64_t, 4>{0, 2, 0xabc0, 0xabc8}[below(4)]; }
  // Every other time a capture begins, or ends.
  void capture() {
    CallRecord call = record(tracee_.function(is_capturing_ ? "hipStreamEndCapture" : "hipStreamBeginCapture").value());
    call.words = {0xabc0};
    call.exit_ns = now_ + 100;
    is_capturing_ = !is_capturing_;
    calls_.add(call, {});
  }
  // A stream that ends, memory that comes, a device that is set: later calls are not like earlier ones.
  void other(std::uint32_t what) {
    CallRecord call =
        record(tracee_.function(std::array{"hipStreamDestroy", "hipMalloc", "hipSetDevice"}[what]).value());
    call.words = {what == 0 ? 0xabc8 : below(2), 0x300};
    call.exit_ns = now_ + 100;
    std::vector<std::byte> payload;
    const std::uint64_t address = 0xd000 + 0x400 * below(2);
    if (what == 1) append_piece(payload, {.kind = PieceKind::Out}, std::as_bytes(std::span(&address, 1)));
    calls_.add(call, payload);
  }
  void flush() {
    if (as_records_) queue_.EventSink::calls(calls_);
    else queue_.calls(calls_);
    calls_.clear();
  }

  const bool as_records_;
  EventQueue queue_;
  std::unique_ptr<Writer> writer_;
  Tracee tracee_{queue_};
  CallBatch calls_;
  std::mt19937 random_{3};
  std::uint64_t last_id_ = 0;
  std::uint32_t sites_ = 0;
  bool is_capturing_ = false;
  std::int64_t now_ = 1'000'000;
};

std::vector<std::string> tables_of(const std::string& file) {
  return rows_of(file, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name");
}

// Rows are written in any order. The session's row has the time of day.
std::vector<std::string> content(const std::string& file, const std::string& table) {
  std::vector<std::string> out = rows_of(file, "SELECT * FROM \"" + table + "\"");
  std::ranges::sort(out);
  return table == "session_" ? rows_of(file, "SELECT id, last_call, clean FROM session_") : out;
}

// A commit ends a block of arguments, so commits may not depend on time.
void expect_same(WriterOptions options) {
  options.commit_after_ns = std::numeric_limits<std::int64_t>::max();
  const Twin records(options, true), summed(options, false);
  const auto tables = tables_of(records.path);
  EXPECT_GT(tables.size(), 20u);
  for (const std::string& table : tables) EXPECT_EQ(content(records.path, table), content(summed.path, table)) << table;
  EXPECT_EQ(records.totals.calls, summed.totals.calls);
  EXPECT_EQ(records.totals.errors, summed.totals.errors);
  EXPECT_EQ(records.totals.tapped, summed.totals.tapped);
  EXPECT_EQ(records.totals.dropped, summed.totals.dropped);
  EXPECT_GT(records.totals.calls, 5000u);
  for (const char* table :
       {"copy_stat_", "copy_size_", "copy_trip_", "kernel_stat_", "stream_", "wait_", "device_prop_"})
    EXPECT_FALSE(content(summed.path, table).empty()) << table;
}

TEST(SummedCallsTest, TheRecordingIsTheSameAsWithARecordForEach) { expect_same({.detail = Detail::Stats}); }

TEST(SummedCallsTest, SoItIsIfOtherCallsHaveRows) { expect_same({.detail = Detail::Calls}); }

TEST(SummedCallsTest, SoItIsWithSteps) {
  expect_same({.detail = Detail::Stats, .step = {.by = StepRule::By::Call, .pattern = "hipMemcpy"}});
}

// Tracing and storing side agree on the functions: no book looks at their calls.
TEST(SummedCallsTest, NoBookWantsCallsOfTheirFunctions) {
  std::size_t n = 0;
  for (const probes::ProbePtr& probe : probes::built_in_probes()) {
    if (!probes::is_only_summed(*probe)) continue;
    ++n;
    EXPECT_EQ(call_family(*probe), CallFamily::Memory) << probe->symbol;
    EXPECT_EQ(probe->memory_action().act, probes::MemoryAct::None) << probe->symbol;
    EXPECT_FALSE(waits(*probe)) << probe->symbol;
  }
  EXPECT_GT(n, 20u);
}

}  // namespace
}  // namespace fade::store
