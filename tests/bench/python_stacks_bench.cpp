// What reading a Python stack of another process costs: a chunk of frames in one read, or a read for each frame, and
// what names cost. Starts python3 itself, which recurses and then waits; nothing is stopped, for the thread sleeps.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "elf/dynamic_image.hpp"
#include "elf/maps.hpp"
#include "ptrace/process_memory.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"
#include "stack/python_layout.hpp"
#include "stack/python_stacks.hpp"
#include "stack/python_threads.hpp"

namespace {

using namespace fade;

constexpr const char* kProgram = R"(
import sys, time
def f(n):
    if n: return f(n - 1)
    sys.stdout.write("x"); sys.stdout.flush()
    time.sleep(10000)
f(int(sys.argv[1]))
)";

class Python {
 public:
  explicit Python(int depth) {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = Pid::of(::fork());
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(ends[1], 1);
      ::execl("/usr/bin/python3", "python3", "-c", kProgram, std::to_string(depth).c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char ready;
    if (::read(ends[0], &ready, 1) != 1) std::abort();
    ::close(ends[0]);
    memory_.emplace(pid_);
    find();
  }
  ~Python() {
    ::kill(pid_.value(), SIGKILL);
    ::waitpid(pid_.value(), nullptr, __WALL);
  }

  const Memory& memory() const { return *memory_; }
  PythonStacks& stacks() { return *stacks_; }
  std::uint64_t fs_base() const { return fs_base_; }
  const elf::DynamicImage& image() const { return *image_; }

 private:
  void find() {
    const auto maps = elf::read_maps(pid_);
    for (const auto& mapping : maps->all()) {
      if (!mapping.has_file() || mapping.offset != 0 || stacks_) continue;
      const auto image = elf::DynamicImage::open(*memory_, mapping.range.begin);
      if (!image) continue;
      auto found = PythonStacks::in(*image, *memory_);
      if (!found || !*found) continue;
      image_ = *image;
      stacks_ = std::move(*found);
    }
    const Tid thread = leader_of(pid_);
    const auto tracer = Tracer::create();
    if (!stacks_ || !tracer || !Tracer::seize(thread, true) || !Tracee(thread).interrupt()) std::abort();
    (void)tracer->next_of(thread);
    fs_base_ = Tracee(thread).registers()->fs_base;
  }

  Pid pid_ = 0;
  std::optional<ProcessMemory> memory_;
  std::optional<elf::DynamicImage> image_;
  std::optional<PythonStacks> stacks_;
  std::uint64_t fs_base_ = 0;
};

void report(benchmark::State& state, std::size_t frames) {
  state.counters["frames"] = static_cast<double>(frames);
  state.counters["frames/us"] =
      benchmark::Counter(static_cast<double>(frames) * 1e-6, benchmark::Counter::kIsIterationInvariantRate);
}

void frames_in_one_read(benchmark::State& state) {
  Python python(static_cast<int>(state.range(0)));
  std::size_t frames = 0;
  for (auto _ : state) frames = python.stacks().frames(python.fs_base(), python.memory()).size();
  report(state, frames);
}

// The least that a read for each frame can do.
void frames_one_by_one(benchmark::State& state) {
  Python python(static_cast<int>(state.range(0)));
  const auto interpreter = find_python(python.image(), python.memory());
  const PythonLayout& layout = (*interpreter)->layout;
  PythonThreads threads(**interpreter);
  std::size_t frames = 0;
  for (auto _ : state) {
    const auto thread = threads.find(python.fs_base(), python.memory());
    std::uint64_t at = thread->word(layout.thread_frame);
    if (layout.cframe_frame != PythonLayout::kNone)
      at = python.memory().value<std::uint64_t>({at + layout.cframe_frame}).value_or(0);
    std::array<std::byte, 256> frame;
    for (frames = 0; at != 0 && python.memory().read_exactly({at}, std::span(frame).first(layout.frame_size()));
         ++frames)
      std::memcpy(&at, frame.data() + layout.frame_previous, sizeof at);
  }
  report(state, frames);
}

std::size_t frames_and_places(Python& python) {
  const auto frames = python.stacks().frames(python.fs_base(), python.memory());
  for (const auto& frame : frames) benchmark::DoNotOptimize(python.stacks().place(frame, python.memory()).id);
  return frames.size();
}

// With names and lines, known ones; the first looks are outside of the loop.
void frames_with_places(benchmark::State& state) {
  Python python(static_cast<int>(state.range(0)));
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300)) frames_and_places(python);
  std::size_t frames = 0;
  for (auto _ : state) frames = frames_and_places(python);
  report(state, frames);
}

// Once for each process: symbols, offsets and the parts of the evaluation loop.
void finding_the_interpreter(benchmark::State& state) {
  Python python(1);
  for (auto _ : state) benchmark::DoNotOptimize(PythonStacks::in(python.image(), python.memory())->has_value());
}

BENCHMARK(frames_in_one_read)->Arg(24)->Arg(78)->Arg(200);
BENCHMARK(frames_one_by_one)->Arg(24)->Arg(78)->Arg(200);
BENCHMARK(frames_with_places)->Arg(24)->Arg(78)->Arg(200);

BENCHMARK(finding_the_interpreter)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
