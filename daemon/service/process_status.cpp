#include "service/process_status.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace fade::service {
namespace {

// The text behind "Key:\t" in a file of such lines. The name of the process comes first and holds no newline.
std::string_view field(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(key) && line.substr(key.size(), 1) == ":") {
      const std::size_t begin = std::min(line.find_first_not_of(" \t", key.size() + 1), line.size());
      return line.substr(begin);
    }
    at = end + 1;
  }
  return {};
}

template <class Number>
std::optional<std::array<Number, 4>> four(std::string_view text) {
  std::array<Number, 4> out{};
  for (Number& number : out) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return out;
}

// The kernel gives the files of a process that must not be dumped to root, whoever runs it.
bool is_dumpable(const std::string& folder, uid_t effective) {
  struct stat what{};
  return ::stat((folder + "/environ").c_str(), &what) == 0 && what.st_uid == effective;
}

Result<NamespaceId> namespace_id(const std::string& path) {
  struct stat what{};
  if (::stat(path.c_str(), &what) != 0) return fail_errno("cannot look at " + path);
  return NamespaceId{what.st_dev, what.st_ino};
}

tl::unexpected<Error> no_such_process(pid_t pid) { return fail(fmt::format("there is no process {}", pid), {}, "pgrep -a NAME", ESRCH); }

}  // namespace

std::string read_text(const std::string& path, std::size_t most) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  std::string out;
  std::array<char, 16384> chunk;
  for (ssize_t n; fd && out.size() < most && (n = ::read(fd.get(), chunk.data(), std::min(chunk.size(), most - out.size()))) > 0;)
    out.append(chunk.data(), static_cast<std::size_t>(n));
  return out;
}

std::string read_link(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t n = ::readlink(path.c_str(), target.data(), target.size());
  return n < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(n));
}

std::uint64_t start_ticks(pid_t pid, const std::string& proc) {
  constexpr int kFieldsBehindName = 19;  // starttime is field 22, the name is 2
  const std::string text = read_text(fmt::format("{}/{}/stat", proc, pid), 4096);
  std::size_t at = text.rfind(')');
  for (int i = 0; i <= kFieldsBehindName && at != std::string::npos; ++i) at = text.find(' ', at + 1);
  std::uint64_t ticks = 0;
  if (at != std::string::npos) std::from_chars(text.data() + at + 1, text.data() + text.size(), ticks);
  return ticks;
}

Result<ProcessStatus> read_status(pid_t pid, const std::string& proc) {
  const std::string folder = fmt::format("{}/{}", proc, pid);
  const std::string text = read_text(folder + "/status");
  const auto uids = four<uid_t>(field(text, "Uid"));
  const auto gids = four<gid_t>(field(text, "Gid"));
  const std::string_view state = field(text, "State");
  if (!uids || !gids || state.empty()) return no_such_process(pid);
  ProcessStatus out{.pid = pid, .state = state.front(), .name = std::string(field(text, "Name")), .uids = *uids, .gids = *gids,
                    .start_ticks = start_ticks(pid, proc), .has_program = false};
  const std::string_view group = field(text, "Tgid");
  std::from_chars(group.data(), group.data() + group.size(), out.group);
  struct stat ignored{};
  out.has_program = ::lstat((folder + "/exe").c_str(), &ignored) == 0 && !read_link(folder + "/exe").empty();
  out.dumpable = is_dumpable(folder, (*uids)[1]);
  if (const auto id = namespace_id(folder + "/ns/user")) out.user_namespace = *id;
  return out;
}

Result<NamespaceId> own_user_namespace(const std::string& proc) { return namespace_id(proc + "/self/ns/user"); }

int yama_scope(const std::string& proc) { return std::atoi(read_text(proc + "/sys/kernel/yama/ptrace_scope", 16).c_str()); }

Result<Fd> open_pidfd(pid_t pid) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd && errno == ESRCH) return no_such_process(pid);
  if (!fd && errno == EINVAL) return fail(fmt::format("{} is a thread, not a process", pid), {}, {}, ESRCH);
  if (!fd) return fail_errno(fmt::format("cannot hold on to process {}", pid));
  return fd;
}

bool has_ended(const Fd& pidfd) {
  pollfd readable{pidfd.get(), POLLIN, 0};
  return ::poll(&readable, 1, 0) != 0;
}

}  // namespace fade::service
