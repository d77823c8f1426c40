#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "doctor/checks.hpp"
#include "proc/memory_group.hpp"

namespace fade::doctor {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kLeastMemory = 1'024 * kMiB;             // HIP's runtime alone takes some hundred MiB
constexpr std::uint64_t kLeastShared = 256 * kMiB;               // Docker gives 64 MiB
constexpr std::uint64_t kLeastDisk = 1'024 * kMiB;               // about ten million calls
constexpr std::uint64_t kLargestLimit = std::uint64_t{1} << 60;  // above it is version 1's word for none

std::string size_words(std::uint64_t bytes) {
  if (bytes < 1'024 * kMiB) return fmt::format("{} MiB", bytes / kMiB);
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1'024 * kMiB));
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return std::nullopt;
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), out);
  return error == std::errc{} ? std::optional(out) : std::nullopt;
}

// The text behind `name` in lines such as "MemAvailable:  123 kB".
std::string_view value_behind(std::string_view text, std::string_view name) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return {};
}

struct GroupLimit {
  std::uint64_t limit = 0, used = 0;
  std::string file;
};

// The tightest of a group and those above it; a container may show its own group as the root.
std::optional<GroupLimit> limit_of(const Examined& x, const MemoryGroup& group) {
  const char* most = group.is_unified ? "/memory.max" : "/memory.limit_in_bytes";
  const char* used = group.is_unified ? "/memory.current" : "/memory.usage_in_bytes";
  std::optional<GroupLimit> out;
  for (std::string path = group.path;; path.erase(path.rfind('/'))) {
    const std::string file = group.mount + path + most;
    const auto limit = number_in(read_bounded(x.root + file, 64).value_or(""));
    if (limit && *limit < kLargestLimit && (!out || *limit < out->limit))
      out = {*limit, number_in(read_bounded(x.root + group.mount + path + used, 64).value_or("")).value_or(0), file};
    if (path.find('/') == path.npos) return out;
  }
}

Answer from_space(const std::optional<Space>& space, std::uint64_t least, const std::string& if_little,
                  const std::string& fix) {
  if (!space) return none("unknown");
  const std::string text = fmt::format("{} of {} free", size_words(space->free), size_words(space->size));
  return space->free < least ? warning(text + if_little, fix) : ok(text);
}

}  // namespace

Answers free_memory(const Examined& x) {
  const std::string text = x.proc().read("meminfo");
  const auto free = number_in(value_behind(text, "MemAvailable:")), all = number_in(value_behind(text, "MemTotal:"));
  if (!free || !all) return {none("unknown: /proc/meminfo cannot be read")};
  const std::string words = fmt::format("{} of {} available", size_words(*free << 10), size_words(*all << 10));
  if (*free << 10 < kLeastMemory)
    return {warning(words, "end other programs: ps -e --sort=-rss -o pid,rss,args | head")};
  return {ok(words)};
}

Answers group_limit(const Examined& x) {
  std::optional<GroupLimit> tightest;
  const std::string text = x.proc().read(x.subject(), "cgroup");
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto group = memory_group_of(line);
    const auto limit = group ? limit_of(x, *group) : std::nullopt;
    if (limit && (!tightest || limit->limit < tightest->limit)) tightest = limit;
  }
  if (!tightest) return {ok("no limit of memory")};
  const std::uint64_t left = tightest->limit - std::min(tightest->limit, tightest->used);
  const std::string words =
      fmt::format("{} of {} left ({})", size_words(left), size_words(tightest->limit), tightest->file);
  if (left >= kLeastMemory) return {ok(words)};
  return {warning(words + ": the kernel kills a program that needs more",
                  "docker run --memory=16g ...      or raise the limit of the job or of the systemd unit")};
}

// The runtime reserves address space for each GPU, many times the memory that it uses.
Answers address_space_limit(const Examined& x) {
  const std::string limits = x.proc().read(x.subject(), "limits");
  if (limits.empty()) return {none("unknown: the limits of the process may not be read")};
  const auto limit = number_in(value_behind(limits, "Max address space"));
  if (!limit) return {ok("unlimited")};
  return {warning(fmt::format("{} of address space: HIP's runtime may reserve more", size_words(*limit)),
                  "ulimit -v unlimited")};
}

Answers shared_memory(const Examined& x) {
  return {from_space(x.space(x.root + "/dev/shm"), kLeastShared, ": RCCL and PyTorch's data loaders need shared memory",
                     "docker run --shm-size=8g ...      or --ipc=host")};
}

Answers disk(const Examined& x) {
  return {from_space(x.space(x.folder), kLeastDisk, " in this folder: a recording may not fit",
                     "fade-run -o /another/disk/run.db      or --max-size")};
}

}  // namespace fade::doctor
