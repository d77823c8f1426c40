#include "proc/proc_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <filesystem>

#include "base/fd.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostOfAFile = 1 << 20;   // the list of groups in a status file alone may have 700 KB
constexpr unsigned kKernelThread = 0x00200000;  // PF_KTHREAD, the same in every kernel
constexpr std::string_view kWhite = " \t\r\n";

std::string_view without_leading(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kWhite), text.size()));
}

template <class Number>
std::optional<Number> leading_number(std::string_view text, int base = 10) {
  Number out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} ? std::optional(out) : std::nullopt;
}

std::string_view word(std::string_view text, std::size_t index) {
  for (; index > 0; --index) {
    text = without_leading(text);
    text.remove_prefix(std::min(text.find_first_of(kWhite), text.size()));
  }
  text = without_leading(text);
  return text.substr(0, text.find_first_of(kWhite));
}

template <class Number>
std::vector<Number> numbered_entries(const std::string& folder) {
  std::vector<Number> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const auto pid = parse_pid(it->path().filename().native())) out.push_back(Number::of(pid->value()));
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::optional<std::string> read_bounded(const std::string& path, std::size_t most) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts {};
  if (!fd || ::fstat(fd.get(), &facts) != 0) return std::nullopt;
  if (!S_ISREG(facts.st_mode)) {
    errno = S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
    return std::nullopt;
  }
  std::string out;
  std::array<char, 4096> chunk;
  while (out.size() < most) {
    const ssize_t n = ::read(fd.get(), chunk.data(), std::min(chunk.size(), most - out.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && out.empty()) return std::nullopt;
    if (n <= 0) break;
    out.append(chunk.data(), static_cast<std::size_t>(n));
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const unsigned char c : text)
    if (c >= 0x20 && c < 0x7f) out += static_cast<char>(c);
    else out += fmt::format("\\x{:02x}", c);
  return out;
}

std::optional<Pid> parse_pid(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto pid = leading_number<pid_t>(text.substr(0, digits));
  if (!pid || *pid <= 0 || text.find_first_not_of(kWhite, digits) != text.npos) return std::nullopt;
  return Pid::of(*pid);
}

std::string_view StatusFile::value(std::string_view name) const {
  std::string_view rest = text_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with(name) && line.substr(name.size()).starts_with(":\t")) return line.substr(name.size() + 2);
  }
  return {};
}

char StatusFile::state() const {
  const std::string_view text = value("State");
  return text.empty() ? '\0' : text[0];
}

int StatusFile::number(std::string_view name) const { return leading_number<int>(value(name)).value_or(0); }

std::uint64_t StatusFile::mask(std::string_view name) const {
  return leading_number<std::uint64_t>(value(name), 16).value_or(0);
}

pid_t StatusFile::last_number(std::string_view name) const {
  const std::string_view all = value(name);
  return leading_number<pid_t>(all.substr(all.rfind('\t') + 1)).value_or(0);
}

std::optional<std::array<std::uint32_t, 4>> StatusFile::ids(std::string_view name) const {
  std::array<std::uint32_t, 4> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto id = leading_number<std::uint32_t>(word(value(name), i));
    if (!id) return std::nullopt;
    out[i] = *id;
  }
  return out;
}

StatFile::StatFile(std::string text) : text_(std::move(text)), behind_name_(text_.rfind(')')) {}

std::string_view StatFile::word(Field field) const {
  if (behind_name_ == std::string::npos) return {};
  return fade::word(std::string_view(text_).substr(behind_name_ + 1), field - State);
}

std::optional<std::uint64_t> StatFile::number(Field field) const { return leading_number<std::uint64_t>(word(field)); }

std::vector<std::string> ProcFiles::texts(TaskId task, const std::string& name) const {
  const std::string all = read(task, name);
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < all.size(); begin += out.back().size() + 1)
    out.push_back(all.substr(begin, std::min(all.find('\0', begin), all.size()) - begin));
  return out;
}

std::string ProcFiles::link(const std::string& name) const {
  std::array<char, PATH_MAX> target;
  const ssize_t n = ::readlink(path(name).c_str(), target.data(), target.size());
  return n < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(n));
}

std::string ProcFiles::read(const std::string& name) const {
  return read_bounded(path(name), kMostOfAFile).value_or("");
}

StatusFile ProcFiles::status(Pid pid, Tid tid) const {
  return StatusFile(read(fmt::format("{}/task/{}/status", pid, tid)));
}

std::string ProcFiles::comm(TaskId task) const {
  std::string name = read(task, "comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

std::string ProcFiles::program_name(TaskId task) const {
  constexpr std::size_t kMostShown = 64;  // the kernel keeps 15 bytes, of its own threads a little more
  return printable(comm(task).substr(0, kMostShown));
}

bool ProcFiles::is_kernel_thread(TaskId task) const {
  return (stat(task).number(StatFile::Flags).value_or(0) & kKernelThread) != 0;
}

std::vector<Pid> ProcFiles::processes() const { return numbered_entries<Pid>(folder_); }
std::vector<Tid> ProcFiles::threads(TaskId task) const { return numbered_entries<Tid>(path(task, "task")); }

}  // namespace fade
