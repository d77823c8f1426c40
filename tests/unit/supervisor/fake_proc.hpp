// A /proc of the test's own, in a temporary folder.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/pid.hpp"

namespace fade {

// Lines of a status file; what a test does not change is that of a harmless process.
struct FakeStatus {
  std::string name = "python3";
  char state = 'S';
  Pid tgid = 0;  // 0: the process itself
  Pid ppid = 1;
  Tid tracer = 0;
  std::string uids = "1000\t1000\t1000\t1000", gids = "1000\t1000\t1000\t1000";
  int seccomp = 0;
  unsigned blocked = 0, ignored = 0, caught = 0;
  std::uint64_t capabilities = 0;
};

class FakeProc {
 public:
  FakeProc() = default;
  ~FakeProc() { std::filesystem::remove_all(folder_); }
  FakeProc(const FakeProc&) = delete;
  FakeProc& operator=(const FakeProc&) = delete;

  std::string path() const { return folder_.string(); }

  // `name` is relative.
  void file(const std::string& name, const std::string& content) const {
    ASSERT_FALSE(name.starts_with('/'));
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }

  void status(Pid pid, const FakeStatus& s, const std::string& file_name = "status") const {
    file(
        fmt::format("{}/{}", pid, file_name),
        fmt::format(
            "Name:\t{}\nUmask:\t0022\nState:\t{} (whatever)\nTgid:\t{}\nPid:\t{}\nPPid:\t{}\nTracerPid:\t{}\nUid:\t{}\n"
            "Gid:\t{}\nGroups:\t{} \nSigBlk:\t{:016x}\nSigIgn:\t{:016x}\nSigCgt:\t{:016x}\nCapPrm:\t{:016x}\n"
            "Seccomp:\t{}\n",
            s.name, s.state, s.tgid ? s.tgid : pid, pid, s.ppid, s.tracer, s.uids, s.gids, 1000, s.blocked, s.ignored,
            s.caught, s.capabilities, s.seccomp));
  }

  // A running process that has one thread, and a name that pgrep would show.
  void process(Pid pid, const FakeStatus& s = {}) const {
    status(pid, s);
    status(pid, s, fmt::format("task/{}/status", pid));
    file(fmt::format("{}/comm", pid), s.name + "\n");
    stat_flags(pid, 0x400000);
  }
  void stat_flags(Pid pid, unsigned flags) const {
    file(fmt::format("{}/stat", pid), fmt::format("{} (a) b) S 1 1 1 0 -1 {} 1 2 3 4 5\n", pid, flags));
  }

 private:
  std::filesystem::path folder_ = [] {
    std::string name = ::testing::TempDir() + "fade-proc-XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
};

}  // namespace fade
