// What the tests of this folder share: a folder of their own, and a /proc that says what a test wants.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "service/process_status.hpp"

namespace fade::service::test {

struct Folder {
  Folder() {
    char name[] = "/tmp/fade-service-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

inline void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// A process as /proc shows it. Fields may be changed before put().
struct FakeProcess {
  int pid = 100, group = 100;
  std::string name = "train", state = "S (sleeping)", uids = "1000\t1000\t1000\t1000", gids = "1000\t1000\t1000\t1000";
  std::string exe = "/usr/bin/train", cgroup = "0::/user.slice/a.scope\n", maps;
  unsigned long start = 4242;

  std::string put(const Folder& proc) const {
    const std::string folder = fmt::format("{}/{}", proc.path, pid);
    std::filesystem::create_directories(folder + "/ns");
    write(folder + "/status",
          fmt::format("Name:\t{}\nState:\t{}\nTgid:\t{}\nUid:\t{}\nGid:\t{}\n", name, state, group, uids, gids));
    std::string stat = fmt::format("{} ({}) S", pid, name);
    for (int field = 4; field < 22; ++field) stat += " 0";
    write(folder + "/stat", fmt::format("{} {} 0 0\n", stat, start));
    write(folder + "/environ", "");
    write(folder + "/ns/user", "");
    write(folder + "/maps", maps);
    write(folder + "/cgroup", cgroup);
    std::filesystem::remove(folder + "/exe");
    if (!exe.empty()) std::filesystem::create_symlink(exe, folder + "/exe");
    return folder;
  }
};

}  // namespace fade::service::test
