// Runs a program, stops it now and then wherever it happens to be, and takes each stack twice: as a session does, and with
// libunwind-ptrace and its global cache. Each is then taken again, which is what counts: most
// stacks of a program have been there before. Prints how long both took and how many stacks were equal, as JSON.
//   compare_stacks STOPS COMMAND [ARGS...]
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
#include "ptrace/tracer.hpp"
#include "session/stack_capture.hpp"

namespace {

using namespace fade;
using Json = nlohmann::json;

constexpr std::size_t kLimit = 512;
constexpr std::size_t kWarm = 200;  // stops before times count

struct NoSink final : EventSink {
  void call(CallRecord, std::span<const std::byte>) override {}
  void notice(Notice) override {}
};

class Unwind {
 public:
  explicit Unwind(pid_t pid) : space_(::unw_create_addr_space(&_UPT_accessors, 0)), thread_(::_UPT_create(pid)) {
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
  Comparison(const Tracer& tracer, pid_t pid) : unwind_(pid) {
    inferior_.pid = pid;
    inferior_.program = std::make_shared<Program>(tracer, pid);
    thread_.tid = pid;
    thread_.inferior = &inferior_;
  }

  void look() {
    learn_modules();
    const auto registers = Tracee(thread_.tid).registers();
    if (!registers) return;
    const std::int64_t began = boottime_ns();
    const StackId stack = capture_.now(thread_, *registers);
    const std::int64_t first = boottime_ns();
    capture_.now(thread_, *registers);
    const std::int64_t taken = boottime_ns();
    unwind_.frames(theirs_);
    const std::int64_t between = boottime_ns();
    unwind_.frames(theirs_);
    const std::int64_t unwound = boottime_ns();
    const StackSnapshot snapshot(inferior_.program->space->memory(), registers->sp());
    const auto ours = native_frames(capture_.of(*inferior_.program).code(), thread_.tid, *registers, snapshot, kLimit);
    ++stops_;
    equal_ += ours == theirs_;
    if (ours != theirs_ && odd_.size() < 20) odd_.push_back(shown(ours, theirs_));
    if (stops_ <= kWarm || stack == 0) return;
    new_ns_.push_back(first - began);
    ours_ns_.push_back(taken - first);
    theirs_ns_.push_back(unwound - between);
    frames_.push_back(static_cast<std::int64_t>(ours.size()));
  }
  std::size_t stops() const { return stops_; }
  Json result() {
    return {{"stops", stops_}, {"equal", equal_}, {"native_frames", middle(frames_)}, {"new_us", static_cast<double>(middle(new_ns_)) / 1000}, {"ours_us", static_cast<double>(middle(ours_ns_)) / 1000},
            {"libunwind_us", static_cast<double>(middle(theirs_ns_)) / 1000}, {"odd", odd_}};
  }

 private:
  // All modules again whenever their number has changed: nothing tells us of a dlopen here.
  void learn_modules() {
    const auto maps = elf::read_maps(thread_.tid);
    if (!maps || maps->all().size() == mappings_) return;
    mappings_ = maps->all().size();
    Program& program = *inferior_.program;
    for (const auto& mapping : maps->all()) {
      if (!mapping.has_file() || mapping.offset != 0 || program.module_at(mapping.range.begin)) continue;
      program.modules.push_back({.id = ++last_module_, .span = mapping.range});
    }
    capture_.of(program).code().changed();
  }
  static std::int64_t middle(std::vector<std::int64_t>& values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    return values[values.size() / 2];
  }
  static Json shown(const std::vector<RemoteAddr>& ours, const std::vector<RemoteAddr>& theirs) {
    const auto text = [](const std::vector<RemoteAddr>& frames) {
      std::string out;
      for (const RemoteAddr pc : frames) out += fmt::format("{:#x} ", pc.value);
      return out;
    };
    return {{"ours", text(ours)}, {"theirs", text(theirs)}};
  }

  NoSink sink_;
  SessionClock clock_;
  StackCapture capture_{sink_, clock_, {.depth = StackChoice::kMostFrames}};
  Inferior inferior_;
  Thread thread_;
  Unwind unwind_;
  std::vector<RemoteAddr> theirs_;
  std::size_t stops_ = 0, equal_ = 0, mappings_ = 0;
  ModuleId last_module_ = 0;
  std::vector<std::int64_t> new_ns_, ours_ns_, theirs_ns_, frames_;
  Json odd_ = Json::array();
};

int compare(const Tracer& tracer, pid_t pid, std::size_t stops) {
  std::optional<Comparison> comparison;  // not before the exec
  const Tracee tracee(pid);
  bool has_begun = false;
  while (!comparison || comparison->stops() < stops) {
    if (has_begun) {
      ::usleep(static_cast<useconds_t>(200 + (comparison ? comparison->stops() * 37 % 900 : 0)));
      tracee.interrupt();
    }
    const Stop stop = tracer.next_of(pid);
    if (stop.kind == Stop::Kind::Gone || stop.kind == Stop::Kind::Exited || stop.kind == Stop::Kind::Killed) break;
    has_begun |= stop.kind == Stop::Kind::Exec;
    if (has_begun && stop.kind == Stop::Kind::Trap) {
      if (!comparison) comparison.emplace(tracer, pid);
      comparison->look();
    }
    tracee.resume(stop.kind == Stop::Kind::Signal ? stop.signal : 0);
  }
  ::kill(pid, SIGKILL);
  if (!comparison) return 1;
  std::printf("%s\n", comparison->result().dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: compare_stacks STOPS COMMAND [ARGS...]\n"), 2;
  LaunchedProgram::Command command{.argv = {argv + 2, argv + argc}};
  for (char** e = environ; *e; ++e) command.environment.emplace_back(*e);
  auto program = LaunchedProgram::fork_waiting(command);
  auto tracer = Tracer::create();
  if (!program || !tracer || !tracer->seize(program->pid(), true)) return 1;
  program->release();
  return compare(*tracer, program->pid(), static_cast<std::size_t>(std::atoll(argv[1])));
}
