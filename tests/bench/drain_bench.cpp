// The cost of a record for the reader of tap rings, against a plain loop over the same bytes: drain_bench [ROUNDS].
// CPU time of this process, the best of all rounds. A call is two records.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>

#include "probes/built_in.hpp"
#include "session/call_book.hpp"
#include "store/writer.hpp"
#include "tap/ring_reader.hpp"
#include "tap/tsc_clock.hpp"

namespace fade {
namespace {

constexpr tap::RingLayout kRing{256 * 1024};
constexpr std::uint64_t kCall = tap::EntryLayout::size(0) + tap::ExitLayout::kSize;
constexpr std::size_t kCalls = kRing.size / kCall, kRings = 200;

// Full rings, one behind the other, as one thread would write them.
std::vector<std::byte> full_ring(std::uint64_t round) {
  std::vector<std::byte> out(kRing.mapped());
  const auto put = [&](std::uint64_t at, std::uint64_t value) { std::memcpy(&out[at], &value, sizeof value); };
  for (std::uint64_t i = 0; i < kCalls; ++i) {
    const std::uint64_t position = round * kRing.size + i * kCall, entry = tap::RingLayout::kRecordsAt + i * kCall,
                        exit = entry + tap::EntryLayout::size(0), tsc = (round * kCalls + i) * 100;
    put(entry, head_word(position, 1, tap::RecordKind::Entry, tap::EntryLayout::size(0)));
    put(entry + tap::EntryLayout::kTscAt, tsc);
    put(entry + tap::EntryLayout::kStackPointerAt, 0x7000);
    put(entry + tap::EntryLayout::kReturnAddressAt, 0x400);
    put(exit, head_word(position + tap::EntryLayout::size(0), 1, tap::RecordKind::Exit, tap::ExitLayout::kSize));
    put(exit + tap::ExitLayout::kTscAt, tsc + 40);
    put(exit + tap::ExitLayout::kStackPointerAt, 0x7000);
  }
  put(tap::RingLayout::kHeadAt, (round + 1) * kRing.size);
  return out;
}

double cpu_ns() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(use.ru_utime) + ns(use.ru_stime);
}

class Bench {
 public:
  explicit Bench(int rounds) : rounds_(rounds) {
    for (std::size_t i = 0; i < kRings; ++i) rings_.push_back(full_ring(i));
    clock_.update({2'600'000'000, 1'000'000'000});
  }

  // `without`: the part of `work` beside the records.
  void row(
      const char* name, const std::function<void()>& work, const std::function<void()>& without = [] {}) {
    const double best = (cost_of(work) - cost_of(without)) / (2.0 * kCalls * kRings);
    if (plain_ == 0) plain_ = best;
    fmt::print("| {} | {:.1f} | {:.1f} | {:.1f} M |\n", name, best, best / plain_, 1e3 / best);
  }

  double cost_of(const std::function<void()>& work) const {
    double best = std::numeric_limits<double>::max();
    for (int i = 0; i < rounds_; ++i) {
      const double before = cpu_ns();
      work();
      best = std::min(best, cpu_ns() - before);
    }
    return best;
  }
  void plain() {
    std::uint64_t sum = 0;
    for (const auto& ring : rings_)
      for (std::size_t at = 0; at + 8 <= ring.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, &ring[at], sizeof word);
        sum += word;
      }
    sink_ = sum;
  }
  void decode() {
    tap::RingReader reader(kRing.size);
    std::vector<tap::Record> records;
    for (const auto& ring : rings_)
      for (;;) {
        records.clear();
        reader.read(ring, records, 256);
        if (records.empty()) break;
        sink_ = records.back().tsc;
      }
  }
  void pairs() {
    tap::RingReader reader(kRing.size);
    for_pairs(reader, [&](const tap::RecordPair& pair) { sink_ = pair.exit_tsc; });
  }
  // As LeafCalls does it. A writer adds the calls up if the sink is its queue.
  enum class Function : std::uint32_t { Asks = 1, Copies = 2 };  // without a book, and with one
  void sums(EventSink& sink, bool as_records, Function function = Function::Asks) {
    function_ = FunctionId::of(static_cast<std::uint32_t>(function));
    CallBook book(sink, session_clock_, [](Thread&, RemoteAddr) { return RemoteRange{}; });
    tap::RingReader reader(kRing.size);
    Inferior inferior;
    Thread thread;
    thread.inferior = &inferior;
    for_pairs(reader, [&](const tap::RecordPair& pair) { take(book, thread, pair, as_records); });
    book.flush();
  }
  // Its writer has a thread of its own, and a file.
  enum class Calls : std::uint8_t { None, Summed, Records };
  void stored(Calls calls, Function function = Function::Asks) {
    char folder[] = "/tmp/fade_drain_XXXXXX";
    if (!::mkdtemp(folder)) return;
    EventQueue queue;
    auto writer = store::Writer::open({.path = std::string(folder) + "/r.db", .detail = Detail::Stats}, {}, queue);
    if (!writer || !(*writer)->start()) std::abort();
    announce(queue);
    if (calls != Calls::None) sums(queue, calls == Calls::Records, function);
    if ((*writer)->finish().calls != (calls == Calls::None ? 0 : kCalls * kRings)) std::abort();
    ::unlink((std::string(folder) + "/r.db").c_str());
    ::rmdir(folder);
  }

 private:
  void for_pairs(tap::RingReader& reader, const auto& visit) {
    tap::RecordPair pair;
    for (const auto& ring : rings_)
      while (reader.next_pair(ring, pair)) {
        visit(pair);
        reader.pass(pair);
      }
  }
  void take(CallBook& book, Thread& thread, const tap::RecordPair& pair, bool as_records) {
    const std::int64_t entry = book.entry_time(clock_.at(pair.entry_tsc)),
                       exit = std::max(clock_.at(pair.exit_tsc), entry);
    const std::array<std::uint64_t, 6> words{0xd00, 0x500, 4096, 1};
    const SummedLane lane{
        .thread = 1, .function = function_, .caller = 1, .parent = 0, .flags = kTapped | kReturned, .words = words};
    if (as_records) {
      CallRecord record{.entry_ns = entry,
                        .exit_ns = exit,
                        .words = words,
                        .function = function_,
                        .thread = 1,
                        .caller = 1,
                        .flags = lane.flags};
      book.number(thread, record);
      book.complete(record, {});
    } else {
      book.sum(book.lane(lane), entry, static_cast<std::uint32_t>(exit - entry));
    }
    if (book.waiting() >= 8192) book.flush();
  }
  static void announce(EventQueue& queue) {
    queue.notice(ProcessStarted{.process = 1, .pid = 100, .exe = "/bin/prog", .command = {"prog"}});
    queue.notice(ThreadStarted{.thread = 1, .process = 1, .tid = 100});
    for (const auto& [id, symbol] : {std::pair{1u, "hipPeekAtLastError"}, std::pair{2u, "hipMemcpy"}})
      for (const auto& probe : probes::built_in_probes())
        if (probe->symbol == symbol)
          queue.notice(FunctionDefined{FunctionId::of(id), probe, "/lib/libamdhip64.so.6", 6, {}});
    queue.notice(CallSiteSeen{.site = 1, .process = 1, .address = 0x400, .library = "/bin/prog"});
  }

  const int rounds_;
  std::vector<std::vector<std::byte>> rings_;
  tap::TscClock clock_{{0, 0}, 0};
  const SessionClock session_clock_;
  FunctionId function_ = 1;
  double plain_ = 0;
  volatile std::uint64_t sink_ = 0;
};

struct Nowhere final : EventSink {
  void call(CallRecord, std::span<const std::byte>) override {}
  void calls(const CallBatch&) override {}
  void notice(Notice) override {}
};

}  // namespace
}  // namespace fade

int main(int argc, char** argv) {
  using namespace fade;
  Bench bench(argc > 1 ? std::atoi(argv[1]) : 7);
  Nowhere nowhere;
  using Calls = Bench::Calls;
  const auto empty = [&] { bench.stored(Calls::None); };
  fmt::print("| what | ns a record | x plain | records a second |\n| --- | ---: | ---: | ---: |\n");
  bench.row("plain loop over the bytes", [&] { bench.plain(); });
  bench.row("records, each copied and checked", [&] { bench.decode(); });
  bench.row("pairs, straight from the ring", [&] { bench.pairs(); });
  bench.row("the same, with times and ids", [&] { bench.sums(nowhere, false); });
  bench.row(
      "and the writer's sums", [&] { bench.stored(Calls::Summed); }, empty);
  bench.row(
      "a record of each call, and the writer's sums", [&] { bench.stored(Calls::Records); }, empty);
  using Function = Bench::Function;
  bench.row(
      "copies, and the writer's sums", [&] { bench.stored(Calls::Summed, Function::Copies); }, empty);
  bench.row(
      "a record of each copy, and the writer's sums", [&] { bench.stored(Calls::Records, Function::Copies); }, empty);
}
