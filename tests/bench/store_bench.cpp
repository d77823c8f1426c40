// What storing costs: a synthetic program with the mix of a training loop (60 % launches, 20 % copies, 10 % malloc and
// free, 10 % others) fills the queue as fast as the writer empties it. Prints calls per second of the writer thread's
// CPU, bytes per call and memory.  store_bench [CALLS] [DIRECTORY] [FILE]; with FILE the recording is kept there.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "probes/built_in.hpp"
#include "store/writer.hpp"

namespace {

using namespace fade;

std::int64_t process_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }
std::int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

std::size_t resident_mb() {
  std::ifstream in("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

class Program {
 public:
  explicit Program(EventQueue& queue) : queue_(queue) {
    queue_.notice(ProcessStarted{.process = 1, .pid = 4242, .exe = "/usr/bin/train", .command = {"train"}});
    for (std::uint32_t t = 1; t <= kThreads; ++t)
      queue_.notice(ThreadStarted{
          .thread = ThreadId::of(t), .process = 1, .tid = Tid::of(static_cast<pid_t>(4241 + t)), .name = "train"});
    for (std::uint32_t s = 1; s <= kSites; ++s)
      queue_.notice(CallSiteSeen{CallSiteId::of(s), 1, 0x7f0000000000u + s * 64, "/opt/torch/libtorch_hip.so", s * 64,
                                 fmt::format("_ZN2at4call{}Ev+12", s)});
    for (std::uint64_t k = 0; k < kKernels; ++k)
      queue_.notice(KernelNamed{1, kKernelBase + k * 16, fmt::format("_ZN2at6native12kernel_{:03}EPfS1_i", k),
                                "/opt/torch/libtorch_hip.so"});
  }

  void step() {
    const unsigned dice = random() % 100;
    if (dice < 60) launch();
    else if (dice < 80) copy();
    else if (dice < 90) memory();
    else other();
  }

 private:
  static constexpr std::uint32_t kThreads = 4;
  static constexpr std::uint32_t kSites = 60;
  static constexpr std::uint64_t kKernels = 40, kKernelBase = 0x7f1200000000u;

  FunctionId function(const char* symbol) {
    const auto known = functions_.find(symbol);
    if (known != functions_.end()) return known->second;
    for (const probes::ProbePtr& probe : probes::built_in_probes())
      if (probe->symbol == symbol) {
        const auto id = FunctionId::of(static_cast<std::uint32_t>(functions_.size() + 1));
        queue_.notice(FunctionDefined{id, probe, "/opt/rocm/lib/libamdhip64.so.6", 6});
        return functions_[symbol] = id;
      }
    std::abort();
  }

  CallRecord begin(const char* symbol) {
    CallRecord record;
    record.id = ++id_;
    record.function = function(symbol);
    record.thread = ThreadId::of(1 + random() % kThreads);
    record.caller = CallSiteId::of(1 + random() % kSites);
    now_ += 20'000 + random() % 8'000;
    record.entry_ns = now_;
    record.exit_ns = now_ + 2'000 + random() % 30'000;
    record.flags = kReturned;
    return record;
  }
  void put(const CallRecord& record) {
    queue_.call(record, payload_);
    payload_.clear();
  }
  template <class T>
  void piece(PieceKind kind, std::uint8_t param, const T& value) {
    append_piece(payload_, {.kind = kind, .param = param}, std::as_bytes(std::span(&value, 1)));
  }

  void launch() {
    CallRecord record = begin("hipLaunchKernel");
    const std::uint64_t kernel = random() % kKernels;
    record.words = {kKernelBase + kernel * 16,
                    1ull << 32 | (64 + kernel % 7 * (1 + random() % 3)),
                    1,
                    1ull << 32 | 256,
                    1,
                    0x7ffd00001000};
    piece(PieceKind::Stack, 0, std::array<std::uint64_t, 2>{0, 0x55550000 + random() % 3 * 256});
    put(record);
  }
  void copy() {
    CallRecord record = begin("hipMemcpyAsync");
    record.words = {0x7f4000000000u + random() % 4096 * 4096,
                    0x7f8000000000u + random() % 65536 * 256,
                    (1 + random() % 4096) * 1024,
                    1 + random() % 2,
                    0x55550000,
                    0};
    put(record);
  }
  void memory() {
    if (live_.size() < 1000 && (live_.empty() || random() % 2)) {
      CallRecord record = begin("hipMalloc");
      const std::uint64_t address = 0x7f2000000000 + id_.value() * 65536 % 0x1000000000;
      record.words = {0x7ffd00002000, (1 + random() % 1024) * 4096, 0, 0, 0, 0};
      piece(PieceKind::Out, 0, address);
      live_.push_back(address);
      return put(record);
    }
    CallRecord record = begin("hipFree");
    std::swap(live_[random() % live_.size()], live_.back());
    record.words[0] = live_.back();
    live_.pop_back();
    put(record);
  }
  void other() {
    static constexpr const char* kOthers[] = {"hipEventRecord", "hipStreamSynchronize", "hipSetDevice",
                                              "hipStreamWaitEvent", "hipEventQuery"};
    CallRecord record = begin(kOthers[random() % 5]);
    record.words = {0, 0, 0, 0, 0, 0};
    put(record);
  }

  unsigned random() {  // xorshift: costs the producer nothing
    seed_ ^= seed_ << 13;
    seed_ ^= seed_ >> 7;
    seed_ ^= seed_ << 17;
    return static_cast<unsigned>(seed_ >> 20);
  }

  EventQueue& queue_;
  std::map<std::string, FunctionId, std::less<>> functions_;
  std::vector<std::uint64_t> live_;
  std::vector<std::byte> payload_;
  CallId id_ = 0;
  std::int64_t now_ = 0;
  std::uint64_t seed_ = 88172645463325252u;
};

}  // namespace

int main(int argc, char** argv) {
  const long calls = argc > 1 ? std::atol(argv[1]) : 2'000'000;
  const bool keep = argc > 3;
  const std::string path = keep ? argv[3] : fmt::format("{}/store_bench.{}.db", argc > 2 ? argv[2] : ".", ::getpid());
  EventQueue queue;
  auto writer = store::Writer::open({.path = path, .max_bytes = 0}, {}, queue);
  if (!writer) {
    fmt::print(stderr, "{}\n", writer.error().text());
    return 1;
  }
  (*writer)->start();
  Program program(queue);
  const std::int64_t began = boottime_ns(), cpu = process_cpu_ns(), own = thread_cpu_ns();
  for (long i = 0; i < calls; ++i) {
    program.step();
    if (i % (calls / 4) == calls / 4 - 1) fmt::print("{:>10} calls, {} MB resident\n", i + 1, resident_mb());
  }
  const auto totals = (*writer)->finish();
  const double writer_s = static_cast<double>(process_cpu_ns() - cpu - (thread_cpu_ns() - own)) / 1e9;
  const double wall_s = static_cast<double>(boottime_ns() - began) / 1e9;
  struct stat status {};
  ::stat(path.c_str(), &status);
  if (!keep) ::unlink(path.c_str());
  const auto n = static_cast<double>(calls);
  fmt::print(
      "{} calls: {:.2f} M calls/s of writer CPU, {:.2f} M calls/s of wall time, {:.1f} bytes per call, {} MB "
      "resident\n",
      totals.calls, n / writer_s / 1e6, n / wall_s / 1e6, static_cast<double>(status.st_size) / n, resident_mb());
  return totals.calls > 0 ? 0 : 1;
}
