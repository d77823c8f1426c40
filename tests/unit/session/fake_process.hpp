// A process that does not run: a /proc folder with the text and memory that a test wants, answers for its stopped
// threads, and a kernel that maps memory and keeps the action of SIGTRAP. Its number is above those that the kernel
// gives, so no request reaches a real process.
#pragma once
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "probe/safety_net.hpp"
#include "proc/proc_files.hpp"
#include "ptrace/stopped_threads.hpp"
#include "ptrace/system_caller.hpp"

namespace fade::test {

class FakeProcess {
 public:
  static constexpr Pid kPid = 900'000'001;

  FakeProcess() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fade_process_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    write("mem", "");
  }
  ~FakeProcess() { std::filesystem::remove_all(root_); }
  FakeProcess(const FakeProcess&) = delete;
  FakeProcess& operator=(const FakeProcess&) = delete;

  const std::string& root() const { return root_; }
  ProcFiles proc() const { return ProcFiles(root_ + "/proc"); }

  // A file of the process itself, or of another number in the same /proc.
  void write(const std::string& name, const std::string& text, TaskId task = kPid) const {
    std::ofstream(place(task, name)) << text;
  }
  void link(const std::string& name, const std::string& target, TaskId task = kPid) const {
    std::filesystem::create_symlink(target, place(task, name));
  }
  // A file anywhere under the root, as /proc/vmstat.
  void write_at(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  // Memory that was never written and is not below written memory cannot be read; gaps below are zeros.
  void put_bytes(std::uint64_t at, const void* bytes, std::size_t size) const {
    std::fstream mem(root_ + "/proc/" + std::to_string(kPid.value()) + "/mem",
                     std::ios::in | std::ios::out | std::ios::binary);
    mem.seekp(static_cast<std::streamoff>(at));
    mem.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  }
  template <class T>
  void put(std::uint64_t at, const T& value) const {
    put_bytes(at, &value, sizeof value);
  }
  void put_text(std::uint64_t at, const std::string& text) const { put_bytes(at, text.c_str(), text.size() + 1); }

  // A line of maps. Lines need not be in order.
  void map(std::uint64_t begin, std::uint64_t end, const std::string& rest) {
    maps_ += fmt::format("{:x}-{:x} {}\n", begin, end, rest);
    write("maps", maps_);
  }

 private:
  std::string place(TaskId task, const std::string& name) const {
    const std::filesystem::path path(root_ + "/proc/" + std::to_string(task.value()) + "/" + name);
    std::filesystem::create_directories(path.parent_path());
    return path;
  }

  std::string root_, maps_;
};

// The stopped threads of a test, by number. A thread that is not in `all` cannot be asked: it was killed.
struct FakeThreads final : StoppedThreads {
  struct One {
    Registers at{};
    std::optional<siginfo_t> info;
    std::uint64_t mask = 0;
  };
  struct Queued {
    Pid pid = 0;
    Tid tid = 0;
    siginfo_t info{};
  };
  mutable std::map<Tid, One> all;
  mutable std::vector<Queued> queued;

  std::optional<Registers> registers(Tid tid) const override {
    return all.contains(tid) ? std::optional(all[tid].at) : std::nullopt;
  }
  bool set_registers(Tid tid, const Registers& registers) const override {
    if (!all.contains(tid)) return false;
    all[tid].at = registers;
    return true;
  }
  std::optional<siginfo_t> siginfo(Tid tid) const override { return all.contains(tid) ? all[tid].info : std::nullopt; }
  std::optional<std::uint64_t> signal_mask(Tid tid) const override {
    return all.contains(tid) ? std::optional(all[tid].mask) : std::nullopt;
  }
  bool set_signal_mask(Tid tid, std::uint64_t mask) const override {
    if (!all.contains(tid)) return false;
    all[tid].mask = mask;
    return true;
  }
  void queue(Pid pid, Tid tid, const siginfo_t& info) const override { queued.push_back({pid, tid, info}); }
};

// Answers the system calls that fade makes in the process.
struct FakeKernel final : SystemCaller {
  explicit FakeKernel(FakeProcess& of) : process(of) {}
  FakeProcess& process;
  mutable KernelSigaction trap_action;  // as the kernel has it
  mutable std::vector<long> calls;

  std::optional<long> call(const ProcessMemory& memory, Tid stopped, RemoteGadgets, long number,
                           std::array<std::uint64_t, 6> arguments) const override {
    calls.push_back(number);
    if (number == SYS_mmap) return mapped(arguments[0], arguments[1]);
    if (number != SYS_rt_sigaction) return 0;
    const KernelSigaction before = trap_action;
    if (arguments[1] != 0) trap_action = memory.value<KernelSigaction>({arguments[1]}).value_or(KernelSigaction{});
    if (arguments[2] != 0) memory.write({arguments[2]}, std::as_bytes(std::span(&before, 1)), stopped);
    return 0;
  }

 private:
  long mapped(std::uint64_t at, std::uint64_t size) const {
    process.map(at, at + size, "r-xp 00000000 00:00 0");
    process.put(at + size - 1, std::uint8_t{0});
    return static_cast<long>(at);
  }
};

}  // namespace fade::test
