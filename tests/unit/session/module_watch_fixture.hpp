// Modules that come and go in a list of the dynamic loader, over memory and libraries made by hand: no process runs.
// The engine that would capture calls takes notes only.
#pragma once
#include <gmock/gmock.h>

#include "session/fake_library.hpp"
#include "session/harness.hpp"
#include "session/module_watch.hpp"
#include "session/site_use.hpp"

namespace fade::module_watch {

using test::FakeLibrary;
using test::FakeLoader;
using test::FakeProcess;

constexpr Pid kTarget = FakeProcess::kPid;
inline const FakeLibrary kHip{.soname = "libamdhip64.so.6", .functions = {"hipGetDeviceCount", "hipMalloc", "hipFree"}};
inline const FakeLibrary kLibc{.soname = "libc.so.6",
                               .functions = {"__libc_start_main", "sigaction", "pthread_sigmask", "syscall"}};

// Notes each function that it is asked to watch, once per address.
struct NotingEngine final : Capture {
  std::vector<WatchedFunction> watched;
  std::vector<RemoteRange> forgotten;
  std::string refusal;

  bool can(const Entry&) const override { return true; }
  std::vector<Result<bool>> watch(Inferior&, std::span<const WatchedFunction> functions, Tid) override {
    std::vector<Result<bool>> out;
    for (const WatchedFunction& one : functions) {
      const bool is_known = std::ranges::any_of(
          watched, [&](const WatchedFunction& other) { return other.code.function == one.code.function; });
      out.push_back(refusal.empty() ? Result<bool>(!is_known) : fail(refusal));
      if (refusal.empty() && !is_known) watched.push_back(one);
    }
    return out;
  }
  std::optional<std::uint32_t> on_trap(Thread&, const Registers&, std::int64_t) override { return std::nullopt; }
  void drain() override {}
  void forget(Inferior&, RemoteRange range, Tid) override {
    forgotten.push_back(range);
    std::erase_if(watched, [&](const WatchedFunction& one) { return range.contains(one.code.function); });
  }
  void leave(Inferior&, Tid) override {}
  void thread_ended(Thread&, bool) override {}
  void set_recording(bool) override {}
};

struct ModuleWatchTest : ::testing::Test {
  ModuleWatchTest() {
    engines.add(engine);
    thread.tid = leader_of(kTarget);
    thread.inferior = &inferior;
    count_threads(1);
  }
  void count_threads(int threads) const {
    std::filesystem::remove_all(process.root() + fmt::format("/proc/{}/task", kTarget));
    for (int i = 0; i < threads; ++i) process.write(fmt::format("task/{}/comm", kTarget.value() + i), "x\n");
  }
  // The session's wishes: probes of the GPU stack, of a library by name, and functions by name.
  void wish(std::vector<std::string> symbols, const std::string& library = {},
            std::vector<SymbolRequest> requests = {}) {
    Wishes wishes{.symbols = std::move(requests)};
    for (const auto& symbol : symbols) {
      probes::Probe probe = *test::simple_probe(symbol, 1);
      probe.library = library;
      wishes.probes.push_back(std::make_shared<const probes::Probe>(std::move(probe)));
    }
    watch.emplace(sink, clock, functions, engines, std::move(wishes));
  }
  Result<void> begin() { return watch->begin(inferior, leader_of(kTarget), {.loader_base = {FakeLoader::kBase}}); }
  // The program has begun, and its loader has listed nothing yet.
  void begin_with(std::vector<std::string> symbols) {
    wish(std::move(symbols));
    const auto begun = begin();
    ASSERT_TRUE(begun) << begun.error().text();
  }
  void stop() { watch->loader_stopped(inferior, thread); }
  // The two stops of a change: before it and after it.
  template <class Change>
  void change(std::uint32_t state, Change&& by) {
    loader.state(state);
    stop();
    by();
    loader.state(0);
    stop();
  }
  std::uint64_t open(const FakeLibrary& library, const std::string& name, const std::string& path = {}) {
    const std::uint64_t base = loader.next_base();
    loader.put_library(base, library, path);
    change(1, [&] { loader.append(base, name); });
    return base;
  }
  void close(std::uint64_t base) {
    change(2, [&] { loader.remove(base); });
  }
  std::vector<std::string> watched() const {
    std::vector<std::string> out;
    for (const WatchedFunction& one : engine.watched) out.push_back(functions[one.entry].probe->symbol);
    return out;
  }
  std::vector<ModuleLoaded> loaded() const { return sink.all<ModuleLoaded>(); }
  std::vector<std::string> paths() const {
    std::vector<std::string> out;
    for (const ModuleLoaded& one : loaded()) out.push_back(one.path);
    return out;
  }
  std::uint8_t byte_at(std::uint64_t at) const { return inferior.memory().value<std::uint8_t>({at}).value_or(0); }

  FakeProcess process;
  FakeLoader loader{process};
  test::FakeKernel kernel{process};
  test::CollectingSink sink;
  const SessionClock clock;
  const probes::Overrides overrides;
  mutable FunctionTable functions{sink, overrides};
  Engines engines{functions};
  NotingEngine engine;
  std::optional<ModuleWatch> watch;
  Inferior inferior{.pid = kTarget, .id = 3, .program = std::make_shared<Program>(kernel, kTarget, process.proc())};
  Thread thread;
};

}  // namespace fade::module_watch
