#include "elf/maps.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/fd.hpp"
#include "proc/living_thread.hpp"

namespace fade::elf {
namespace {

constexpr std::size_t kMaxMapsText = 256u << 20;  // vm.max_map_count lines of ordinary length are far below
constexpr std::uint64_t kSmallestPage = 4096;
constexpr std::uint64_t kTop = 0x7ffffffff000;  // end of user space with four page-table levels
constexpr std::uint64_t kStackRoom = 256u << 20;
constexpr std::uint64_t kHeapRoom = 256u << 20;

// Removes a number and the character after it from the front of `text`.
template <class T>
bool take(std::string_view& text, T& out, int base, char end) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  const auto used = static_cast<std::size_t>(rest - text.data());
  if (error != std::errc() || used >= text.size() || text[used] != end) return false;
  text.remove_prefix(used + 1);
  return true;
}

bool take_suffix(std::string& text, std::string_view suffix) {
  if (text.size() < suffix.size() || text.compare(text.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  text.resize(text.size() - suffix.size());
  return true;
}

std::optional<Mapping> parse_line(std::string_view line) {
  Mapping m;
  if (!take(line, m.range.begin.value, 16, '-') || !take(line, m.range.end.value, 16, ' ')) return std::nullopt;
  if (m.range.end <= m.range.begin || line.size() < 5) return std::nullopt;
  m.readable = line[0] == 'r';
  m.writable = line[1] == 'w';
  m.executable = line[2] == 'x';
  m.shared = line[3] == 's';
  line.remove_prefix(5);
  unsigned major = 0, minor = 0;
  std::string with_end(line);  // the inode may end the line
  with_end += ' ';
  std::string_view rest = with_end;
  if (!take(rest, m.offset, 16, ' ') || !take(rest, major, 16, ':') || !take(rest, minor, 16, ' ') ||
      !take(rest, m.inode, 10, ' '))
    return std::nullopt;
  m.device = ::makedev(major, minor);
  const auto path = rest.find_first_not_of(' ');
  if (path == std::string_view::npos) return m;
  m.path = rest.substr(path, rest.size() - path - 1);
  m.deleted = m.inode != 0 && take_suffix(m.path, " (deleted)");
  return m;
}

struct Gap {
  std::uint64_t begin, end;
};

// The free ranges in [lowest, top), with room for growth next to the stack and the heap.
std::vector<Gap> gaps(const Maps& maps, std::uint64_t lowest, bool leave_room) {
  std::vector<Gap> out;
  std::uint64_t at = (lowest + kSmallestPage - 1) / kSmallestPage * kSmallestPage;
  for (const Mapping& m : maps.all()) {
    std::uint64_t begin = m.range.begin.value, end = m.range.end.value;
    if (leave_room && m.path == "[stack]") begin -= std::min(begin, kStackRoom);
    if (leave_room && m.path == "[heap]") end += kHeapRoom;
    if (at < std::min(begin, kTop)) out.push_back({at, std::min(begin, kTop)});
    at = std::max(at, end);
  }
  if (at < kTop) out.push_back({at, kTop});
  return out;
}

std::optional<std::uint64_t> nearest(const std::vector<Gap>& gaps, RemoteRange reach, std::uint64_t size) {
  const std::uint64_t low = reach.end.value > kJumpReach ? reach.end.value - kJumpReach : 0;
  const std::uint64_t high = reach.begin.value + kJumpReach;
  std::optional<std::uint64_t> above;
  for (auto gap = gaps.rbegin(); gap != gaps.rend(); ++gap) {  // from the top down
    const std::uint64_t begin = (std::max(gap->begin, low) + kSmallestPage - 1) / kSmallestPage * kSmallestPage;
    const std::uint64_t end = std::min(gap->end, high) / kSmallestPage * kSmallestPage;
    if (begin > end || end - begin < size) continue;
    if (gap->begin < reach.begin.value) return end - size;
    above = begin;
  }
  return above;
}

}  // namespace

Maps Maps::parse(std::string_view text) {
  Maps out;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (auto m = parse_line(line)) out.mappings_.push_back(std::move(*m));
  }
  const auto by_address = [](const Mapping& a, const Mapping& b) { return a.range.begin < b.range.begin; };
  if (!std::is_sorted(out.mappings_.begin(), out.mappings_.end(), by_address))
    std::sort(out.mappings_.begin(), out.mappings_.end(), by_address);
  return out;
}

const Mapping* Maps::find(RemoteAddr address) const {
  auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                [](RemoteAddr a, const Mapping& m) { return a < m.range.begin; });
  if (after == mappings_.begin() || !(--after)->range.contains(address)) return nullptr;
  return &*after;
}

Result<Maps> read_maps(TaskId task, const ProcFiles& proc) {
  const std::string name = proc.path(living_thread(task, proc), "maps");
  const Fd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno("cannot open " + name);
  std::string text;
  std::array<char, 1 << 16> chunk;
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("cannot read " + name);
    if (got == 0) return Maps::parse(text);
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxMapsText) return fail("cannot read " + name, "it has more than 256 MiB");
  }
}

std::uint64_t mmap_min_addr() {
  std::uint64_t value = 65536;  // the kernel's usual default
  const Fd fd(::open("/proc/sys/vm/mmap_min_addr", O_RDONLY | O_CLOEXEC));
  std::array<char, 32> text{};
  const ssize_t got = fd ? ::read(fd.get(), text.data(), text.size()) : 0;
  if (got > 0) std::from_chars(text.data(), text.data() + got, value);
  return std::max<std::uint64_t>(value, kSmallestPage);
}

std::optional<RemoteAddr> free_gap_near(const Maps& maps, RemoteRange reach, std::uint64_t size, std::uint64_t lowest) {
  if (reach.end < reach.begin || reach.size() > kJumpReach || size == 0 || size > kJumpReach || reach.end.value > kTop)
    return std::nullopt;
  const std::uint64_t whole = (size + kSmallestPage - 1) / kSmallestPage * kSmallestPage;
  for (const bool leave_room : {true, false})
    if (const auto at = nearest(gaps(maps, lowest, leave_room), reach, whole)) return RemoteAddr{*at};
  return std::nullopt;
}

}  // namespace fade::elf
