// A recording in a directory of its own: put in what a tracing thread would put in, finish, ask with SQL.
#pragma once
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "probes/built_in.hpp"
#include "store/sqlite.hpp"
#include "store/writer.hpp"

namespace fade::store {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fade_store_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// All rows as text: columns joined by '|', NULL is empty.
inline std::vector<std::string> rows_of(const std::string& file, const std::string& sql) {
  auto db = sqlite::Db::open(file, SQLITE_OPEN_READONLY);
  EXPECT_TRUE(db) << (db ? "" : db.error().text());
  auto stmt = db->prepare(sql);
  EXPECT_TRUE(stmt) << sql << (stmt ? "" : stmt.error().text());
  std::vector<std::string> out;
  if (!stmt) return out;
  for (;;) {
    const auto row = stmt->step();
    EXPECT_TRUE(row) << sql;
    if (!row || !*row) return out;
    std::string& line = out.emplace_back();
    for (int i = 0; i < stmt->columns(); ++i) line += (i ? "|" : "") + std::string(stmt->text(i));
  }
}
inline std::string value_of(const std::string& file, const std::string& sql) {
  const auto rows = rows_of(file, sql);
  return rows.empty() ? "(no row)" : rows.front();
}

// What a tracing thread does, in short words. Every call takes 1000 ns, one begins each 10000 ns.
class Tracee {
 public:
  explicit Tracee(EventSink& sink) : sink_(sink) {}

  void process(ProcessId id, Pid pid = 100, ProcessId parent = 0) {
    sink_.notice(ProcessStarted{.process = id,
                                .parent = parent,
                                .at = now_,
                                .pid = pid,
                                .exe = "/bin/prog",
                                .command = {"prog", "a b"},
                                .environment = {{"HIP_VISIBLE_DEVICES", "0"}}});
  }
  void thread(ThreadId id, ProcessId process, Tid tid = 100) {
    sink_.notice(ThreadStarted{id, process, now_, tid, "main"});
  }

  FunctionId function(const std::string& symbol) {
    const auto known = functions_.find(symbol);
    if (known != functions_.end()) return known->second;
    for (const probes::ProbePtr& probe : probes::built_in_probes()) {
      if (probe->symbol != symbol) continue;
      const auto id = FunctionId::of(static_cast<std::uint32_t>(functions_.size() + 1));
      sink_.notice(FunctionDefined{id, probe, "/opt/rocm/lib/libamdhip64.so.6", 6});
      return functions_[symbol] = id;
    }
    ADD_FAILURE() << symbol << " is not a known function";
    return 0;
  }

  // A record that returned 0; change what should differ, then put() it.
  CallRecord begin(const std::string& symbol, std::array<std::uint64_t, 6> words = {}, ThreadId thread = 1) {
    CallRecord record;
    record.id = ++last_id_;
    record.function = function(symbol);
    record.thread = thread;
    record.words = words;
    record.entry_ns = now_ += 10'000;
    record.exit_ns = now_ + 1'000;
    record.flags = kReturned;
    return record;
  }
  template <class T>
  void piece(PieceKind kind, std::uint8_t param, const T& value) {
    append_piece(payload_, {.kind = kind, .param = param}, std::as_bytes(std::span(&value, 1)));
  }
  void text(PieceKind kind, std::uint8_t param, std::string_view text, bool is_cut = false) {
    append_piece(payload_, {.kind = kind, .param = param, .cut = is_cut}, std::as_bytes(std::span(text)));
  }
  CallId put(const CallRecord& record) {
    sink_.call(record, payload_);
    payload_.clear();
    return record.id;
  }
  CallId call(const std::string& symbol, std::array<std::uint64_t, 6> words = {}, ThreadId thread = 1) {
    return put(begin(symbol, words, thread));
  }
  CallId fail(const std::string& symbol, std::uint64_t code) {
    CallRecord record = begin(symbol);
    record.result = code;
    record.flags |= kFailed;
    return put(record);
  }
  CallId malloc(std::uint64_t address, std::uint64_t bytes, ThreadId thread = 1) {
    const CallRecord record = begin("hipMalloc", {0x7ffd1000, bytes}, thread);
    piece(PieceKind::Out, 0, address);
    return put(record);
  }
  CallId free(std::uint64_t address, ThreadId thread = 1) { return call("hipFree", {address}, thread); }
  CallId launch(std::uint64_t kernel, std::uint32_t grid = 4, std::uint32_t block = 64, ThreadId thread = 1) {
    const CallRecord record =
        begin("hipLaunchKernel", {kernel, 1ull << 32 | grid, 1, 1ull << 32 | block, 1, 0}, thread);
    piece(PieceKind::Stack, 0, std::array<std::uint64_t, 2>{512, 0xabc0});
    return put(record);
  }
  void notice(Notice n) { sink_.notice(std::move(n)); }
  std::int64_t now() const { return now_; }

 private:
  EventSink& sink_;
  std::map<std::string, FunctionId> functions_;
  std::vector<std::byte> payload_;
  CallId last_id_ = 0;
  std::int64_t now_ = 0;
};

// One process (pid 100) with one thread, recorded into a file.
class Recording : public testing::Test {
 protected:
  void open(WriterOptions options = {}, EventQueue::Limits limits = {}) {
    options.path = path;
    queue = std::make_unique<EventQueue>(limits);
    auto opened = Writer::open(options, {.cwd = "/home", .command = {"prog"}, .options = "-o x"}, *queue);
    ASSERT_TRUE(opened) << opened.error().text();
    writer = std::move(*opened);
    writer->start();
    tracee = std::make_unique<Tracee>(*queue);
    tracee->process(1);
    tracee->thread(1, 1);
  }
  Totals finish() {
    Totals totals = writer->finish();
    writer.reset();
    return totals;
  }
  std::vector<std::string> rows(const std::string& sql) const { return rows_of(path, sql); }
  std::string value(const std::string& sql) const { return value_of(path, sql); }

  TemporaryDirectory directory;
  const std::string path = directory.file("r.db");
  std::unique_ptr<EventQueue> queue;
  std::unique_ptr<Writer> writer;
  std::unique_ptr<Tracee> tracee;
};

}  // namespace fade::store
