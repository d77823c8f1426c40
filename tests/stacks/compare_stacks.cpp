// Runs a program, stops it now and then wherever it happens to be, or with --at-signal where it sends itself SIGUSR1,
// and takes each stack as a session does and with libunwind-ptrace and its global cache. Each is then taken again.
// Prints as JSON how long that took (medians of stacks that were new, that had been there at an earlier stop, and taken
// again at once), how many had the frames that libunwind sees, and how many a second capture, which remembers nothing,
// saw as the first one did.
//   compare_stacks STOPS [--at-signal] COMMAND [ARGS...]
#include <fmt/format.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "elf/maps.hpp"
#include "ptrace/launch.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"
#include "session/stack_capture.hpp"

namespace {

using namespace fade;
using Json = nlohmann::json;

constexpr std::size_t kLimit = 512;
constexpr std::size_t kWarm = 200;  // stops before times count

// Keeps how many frames each stack has.
struct Depths final : EventSink {
  void call(CallRecord, std::span<const std::byte>) override {}
  void notice(Notice notice) override {
    if (const auto* seen = std::get_if<StackSeen>(&notice)) of_stack[seen->stack] = of_stack[seen->parent] + 1;
  }
  std::unordered_map<StackId, std::int64_t> of_stack;
};

// Two numberings of the same things: each number of one goes with one of the other.
class Pairs {
 public:
  bool same(StackId a, StackId b) {
    return to_.try_emplace(a, b).first->second == b && from_.try_emplace(b, a).first->second == a;
  }

 private:
  std::unordered_map<StackId, StackId> to_, from_;
};

class Unwind {
 public:
  explicit Unwind(Pid pid) : space_(::unw_create_addr_space(&_UPT_accessors, 0)), thread_(::_UPT_create(pid.value())) {
    ::unw_set_caching_policy(space_, UNW_CACHE_GLOBAL);
  }
  void frames(std::vector<RemoteAddr>& out) const {
    out.clear();
    unw_cursor_t cursor;
    if (::unw_init_remote(&cursor, space_, thread_) != 0) return;
    do {
      unw_word_t ip = 0;
      ::unw_get_reg(&cursor, UNW_REG_IP, &ip);
      if (ip == 0) return;
      const bool is_call = !out.empty() && ::unw_is_signal_frame(&cursor) <= 0;
      out.push_back({is_call ? ip - 1 : ip});
    } while (out.size() < kLimit && ::unw_step(&cursor) > 0);
  }

 private:
  unw_addr_space_t space_;
  void* thread_;
};

class Comparison {
 public:
  Comparison(const Tracer& tracer, Pid pid) : unwind_(pid) {
    for (Watched* one : {&watched_, &again_}) {
      one->inferior.pid = pid;
      one->thread.tid = leader_of(pid);
      one->inferior.program = std::make_shared<Program>(tracer, pid);
      one->thread.inferior = &one->inferior;
    }
  }

  void look() {
    learn_modules();
    Thread& thread = watched_.thread;
    const auto registers = Tracee(thread.tid).registers();
    if (!registers) return;
    const StackId newest = newest_;
    const std::int64_t began = boottime_ns();
    const StackId stack = capture_.now(thread, *registers);
    const std::int64_t first = boottime_ns();
    const StackId again = capture_.now(thread, *registers);
    const std::int64_t taken = boottime_ns();
    newest_ = std::max(newest_, stack);
    unwind_.frames(theirs_);
    const std::int64_t between = boottime_ns();
    unwind_.frames(theirs_);
    const std::int64_t unwound = boottime_ns();
    Program& program = *watched_.inferior.program;
    const StackSnapshot snapshot(program.space->memory(), registers->sp());
    const auto ours = native_frames(capture_.of(program).code(), thread.tid, *registers, snapshot, kLimit);
    ++stops_;
    equal_ += ours == theirs_;
    anew_.forget();
    same_ += stack == again && pairs_.same(stack, anew_.now(again_.thread, *registers));
    if (ours != theirs_ && odd_.size() < 20) odd_.push_back(shown(ours, theirs_));
    if (stops_ <= kWarm || stack == 0) return;
    (stack > newest ? new_ns_ : known_ns_).push_back(first - began);
    again_ns_.push_back(taken - first);
    theirs_ns_.push_back(unwound - between);
    frames_.push_back(static_cast<std::int64_t>(ours.size()));
    merged_.push_back(depths_.of_stack[stack]);
  }
  std::size_t stops() const { return stops_; }
  Json result() {
    return {{"stops", stops_},
            {"equal", equal_},
            {"same", same_},
            {"native_frames", middle(frames_)},
            {"merged_frames", middle(merged_)},
            {"new", new_ns_.size()},
            {"known", known_ns_.size()},
            {"recognised", capture_.recognised()},
            {"new_us", us(new_ns_)},
            {"known_us", us(known_ns_)},
            {"again_us", us(again_ns_)},
            {"libunwind_us", us(theirs_ns_)},
            {"odd", odd_}};
  }

 private:
  // All modules again whenever their number has changed: nothing tells us of a dlopen here.
  void learn_modules() {
    const auto maps = elf::read_maps(watched_.thread.tid);
    if (!maps || maps->all().size() == mappings_) return;
    mappings_ = maps->all().size();
    Program& program = *watched_.inferior.program;
    for (const auto& mapping : maps->all()) {
      if (!mapping.has_file() || mapping.offset != 0 || program.module_at(mapping.range.begin)) continue;
      program.modules.push_back({.id = ++last_module_, .span = mapping.range});
    }
    again_.inferior.program->modules = program.modules;
    capture_.of(program).code().changed();
    anew_.of(*again_.inferior.program).code().changed();
  }
  static std::int64_t middle(std::vector<std::int64_t>& values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
  static double us(std::vector<std::int64_t>& ns) { return static_cast<double>(middle(ns)) / 1000; }
  static Json shown(const std::vector<RemoteAddr>& ours, const std::vector<RemoteAddr>& theirs) {
    const auto text = [](const std::vector<RemoteAddr>& frames) {
      std::string out;
      for (const RemoteAddr pc : frames) out += fmt::format("{:#x} ", pc.value);
      return out;
    };
    return {{"ours", text(ours)}, {"theirs", text(theirs)}};
  }

  struct Watched {
    Inferior inferior;
    Thread thread;
  };
  Depths depths_, of_anew_;
  SessionClock clock_;
  StackCapture capture_{depths_, clock_, {.depth = StackChoice::kMostFrames}};
  StackCapture anew_{of_anew_, clock_, {.depth = StackChoice::kMostFrames}};
  Pairs pairs_;
  StackId newest_ = 0;
  Watched watched_, again_;
  Unwind unwind_;
  std::vector<RemoteAddr> theirs_;
  std::size_t stops_ = 0, equal_ = 0, same_ = 0, mappings_ = 0;
  ModuleId last_module_ = 0;
  std::vector<std::int64_t> new_ns_, known_ns_, again_ns_, theirs_ns_, frames_, merged_;
  Json odd_ = Json::array();
};

int compare(const Tracer& tracer, Pid pid, std::size_t stops, bool at_signal) {
  std::optional<Comparison> comparison;  // not before the exec
  const Tracee tracee(leader_of(pid));
  bool has_begun = false;
  while (!comparison || comparison->stops() < stops) {
    if (has_begun && !at_signal) {
      ::usleep(static_cast<useconds_t>(200 + (comparison ? comparison->stops() * 37 % 900 : 0)));
      tracee.interrupt();
    }
    const Stop stop = tracer.next_of(leader_of(pid));
    if (stop.kind == Stop::Kind::Gone || stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed) break;
    has_begun |= stop.kind == Stop::Kind::Exec;
    const bool is_told = at_signal && stop.kind == Stop::Kind::Signal && stop.signal == SIGUSR1;
    if (has_begun && (is_told || (!at_signal && stop.kind == Stop::Kind::Trap))) {
      if (!comparison) comparison.emplace(tracer, pid);
      comparison->look();
    }
    tracee.resume(stop.kind == Stop::Kind::Signal && !is_told ? stop.signal : 0);
  }
  ::kill(pid.value(), SIGKILL);
  if (!comparison) return 1;
  std::printf("%s\n", comparison->result().dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool at_signal = argc > 2 && argv[2] == std::string_view("--at-signal");
  const int first = at_signal ? 3 : 2;
  if (argc <= first) {
    std::fprintf(stderr, "usage: compare_stacks STOPS [--at-signal] COMMAND [ARGS...]\n");
    return 2;
  }
  LaunchedProgram::Command command{.argv = {argv + first, argv + argc}};
  for (char** e = environ; *e; ++e) command.environment.emplace_back(*e);
  auto program = LaunchedProgram::fork_waiting(command);
  auto tracer = Tracer::create();
  if (!program || !tracer || !tracer->seize(leader_of(program->pid()), true)) return 1;
  program->release();
  return compare(*tracer, program->pid(), static_cast<std::size_t>(std::atoll(argv[1])), at_signal);
}
