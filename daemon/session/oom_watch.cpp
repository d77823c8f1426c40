#include "session/oom_watch.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <string_view>

#include "proc/memory_group.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostGroups = 64;
constexpr std::string_view kMachine = "/proc/vmstat";

// The number behind "oom_kill " at the start of a line.
std::optional<std::uint64_t> read_count(const std::string& path) {
  constexpr std::string_view kName = "oom_kill ";
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::uint64_t value = 0;
    if (line.starts_with(kName) &&
        std::from_chars(line.data() + kName.size(), line.data() + line.size(), value).ec == std::errc{})
      return value;
  }
  return std::nullopt;
}

// The file that counts for a line of /proc/PID/cgroup; empty: the line is another controller's.
std::string counter_of(std::string_view line) {
  const auto group = memory_group_of(line);
  if (!group) return {};
  return group->mount + group->path + (group->is_unified ? "/memory.events" : "/memory.oom_control");
}

}  // namespace

std::string OomWatch::group_file(Pid pid) const {
  std::ifstream in(fmt::format("{}/proc/{}/cgroup", root_, pid));
  for (std::string line; std::getline(in, line);)
    if (const std::string file = counter_of(line); !file.empty() && read_count(root_ + file)) return file;
  return {};
}

void OomWatch::knows(Pid pid) {
  if (!machine_)
    if (const auto count = read_count(root_ + std::string(kMachine))) machine_ = {*count, *count};
  const std::string file = groups_.size() < kMostGroups ? group_file(pid) : std::string();
  if (file.empty() || groups_.contains(file)) return;
  if (const auto count = read_count(root_ + file)) groups_[file] = {*count, *count};
}

void OomWatch::look() {
  const auto renew = [this](const std::string& file, Counted& counted) {
    if (const auto count = read_count(root_ + file)) counted = {counted.last, *count};
  };
  for (auto& [file, counted] : groups_) renew(file, counted);
  if (machine_) renew(std::string(kMachine), *machine_);
}

std::optional<OomWatch::Verdict> OomWatch::killed(Pid pid) const {
  const auto more = [this](const std::string& file, const Counted& counted) {
    const auto count = read_count(root_ + file);
    return count && *count > counted.before;
  };
  const auto group = groups_.find(group_file(pid));
  if (group != groups_.end() && more(group->first, group->second))
    return Verdict{
        true, fmt::format("the kernel counted an out-of-memory kill in its control group just then (oom_kill in {})",
                          group->first)};
  if (group == groups_.end() && machine_ && more(std::string(kMachine), *machine_))
    return Verdict{
        false,
        fmt::format("the kernel counted an out-of-memory kill on this machine just then (oom_kill in {})", kMachine)};
  return std::nullopt;
}

}  // namespace fade
