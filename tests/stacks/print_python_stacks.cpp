// Runs a program and prints the Python stack of each thread that sends itself SIGUSR1, as JSON, one line for each stop:
//   print_python_stacks PROGRAM [ARGUMENTS...]
// "loops": how many native frames lie in the evaluation loop, from the call frame information alone; -1 where that ends
// too early (there are too many frames, or libdwfl has no information for a page of libffi's that was mapped later).
// "again": how many frames there are through a snapshot of the stack and of what wanted() names, in front of the
// process; "outside": how often that had to ask the process. The exit status is the program's.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "elf/dynamic_image.hpp"
#include "elf/maps.hpp"
#include "ptrace/launch.hpp"
#include "ptrace/process_memory.hpp"
#include "ptrace/tracee.hpp"
#include "ptrace/tracer.hpp"
#include "stack/native_walk.hpp"
#include "stack/python_stacks.hpp"

namespace {

using namespace fade;
using Json = nlohmann::json;

// What was read at one time, in front of the process.
class Snapshot final : public Memory {
 public:
  Snapshot(const std::vector<RemoteRange>& ranges, const Memory& memory) : behind_(memory) {
    for (const RemoteRange& range : ranges) {
      auto& bytes = parts_[range.begin.value];
      bytes.resize(range.size());
      bytes.resize(memory.read(range.begin, bytes));
    }
  }
  std::size_t read(RemoteAddr from, std::span<std::byte> into) const override {
    const auto part = parts_.upper_bound(from.value);
    if (part != parts_.begin()) {
      const auto& [begin, bytes] = *std::prev(part);
      const std::uint64_t skip = from.value - begin;
      if (skip <= bytes.size() && into.size() <= bytes.size() - skip) {
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(skip), into.size(), into.begin());
        return into.size();
      }
    }
    ++outside;
    return behind_.read(from, into);
  }
  mutable int outside = 0;

 private:
  const Memory& behind_;
  std::map<std::uint64_t, std::vector<std::byte>> parts_;
};

class Printer {
 public:
  explicit Printer(Pid pid) : pid_(pid), memory_(pid) {}

  void print(Tid tid) {
    Json out{{"tid", tid.value()}};
    const auto registers = Tracee(tid).registers();
    if (const auto found = find(); !found) out["error"] = found.error().message + ": " + found.error().cause;
    else if (!python_) out["error"] = "no Python";
    else if (registers) describe(*registers, out);
    std::printf("%s\n", out.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
    std::fflush(stdout);
  }

 private:
  Result<void> find() {
    if (python_) return {};
    const auto maps = elf::read_maps(pid_);
    if (!maps) return tl::unexpected(maps.error());
    for (const auto& mapping : maps->all()) {
      if (!mapping.has_file() || mapping.offset != 0) continue;
      const auto image = elf::DynamicImage::open(memory_, mapping.range.begin);
      if (!image) continue;
      auto python = PythonStacks::in(*image, memory_);
      if (!python) return tl::unexpected(python.error());
      python_ = std::move(*python);
      if (python_) return {};
    }
    return {};
  }

  void describe(const Registers& registers, Json& out) {
    const auto frames = python_->frames(registers.fs_base, memory_);
    out["version"] = python_->version();
    out["loops"] = loops(registers);
    out["frames"] = Json::array();
    for (const auto& frame : frames) {
      const auto& place = python_->place(frame, memory_);
      out["frames"].push_back(Json{{"function", place.function},
                                   {"file", place.file},
                                   {"line", place.line},
                                   {"entry", frame.entry},
                                   {"code", frame.code}});
    }
    auto wanted = python_->wanted(registers.fs_base);
    wanted.push_back({registers.sp(), registers.sp() + kStack});
    const Snapshot snapshot(wanted, memory_);
    out["again"] = python_->frames(registers.fs_base, snapshot).size();
    out["outside"] = snapshot.outside;
  }

  int loops(const Registers& registers) const {
    CodeFiles files;
    CodeMap code(files, memory_);
    const auto native =
        native_frames(code, leader_of(pid_), registers, StackSnapshot(memory_, registers.sp(), kStack), 256);
    if (native.size() >= 256 || native.empty() || ends_in_closure(native.back())) return -1;
    return static_cast<int>(
        std::ranges::count_if(native, [this](RemoteAddr pc) { return python_->is_evaluation(pc); }));
  }

  bool ends_in_closure(RemoteAddr pc) const {
    const auto maps = elf::read_maps(pid_);
    const auto* mapping = maps ? maps->find(pc) : nullptr;
    return !mapping || !mapping->has_file() || mapping->path.find("libffi") != std::string::npos;
  }

  static constexpr std::uint64_t kStack = 256 * 1024;
  Pid pid_;
  ProcessMemory memory_;
  std::optional<PythonStacks> python_;
};

int supervise(const Tracer& tracer, Pid pid) {
  std::optional<Printer> printer;  // not before the exec: the memory is another one then
  for (;;) {
    const Stop stop = tracer.next();
    if (stop.kind == Stop::Kind::Gone) return 1;
    if (stop.kind == Stop::Kind::Exited && stop.tid == leader_of(pid)) return stop.status;
    if (stop.kind == Stop::Kind::Killed && stop.tid == leader_of(pid)) return 128 + stop.status;
    if (stop.tid == 0) continue;
    const bool ours = stop.kind == Stop::Kind::Signal && stop.signal == SIGUSR1;
    if (ours && !printer) printer.emplace(pid);
    if (ours) printer->print(stop.tid);
    if (stop.kind == Stop::Kind::Group) Tracee(stop.tid).listen();
    else Tracee(stop.tid).resume(stop.kind == Stop::Kind::Signal && !ours ? stop.signal : 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  LaunchedProgram::Command command{.argv = {argv + 1, argv + argc}, .environment = {}, .directory = {}};
  for (char** variable = environ; *variable; ++variable) command.environment.emplace_back(*variable);
  auto program = LaunchedProgram::fork_waiting(command);
  auto tracer = Tracer::create();
  if (!program || !tracer || !Tracer::seize(leader_of(program->pid()), true)) return 2;
  program->release();
  return supervise(*tracer, program->pid());
}
