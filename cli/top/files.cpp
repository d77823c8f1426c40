#include "cli/top/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/output_file.hpp"
#include "cli/table/bytes.hpp"
#include "cli/table/text.hpp"
#include "cli/top/programs.hpp"

namespace fade::cli::top {
namespace {

constexpr int kMostNames = 100;
constexpr mode_t kOwnersOnly = 0600;

std::string name_now(std::string_view ending, int n) {
  const time_t now = ::time(nullptr);
  tm parts{};
  std::array<char, 40> text{};
  ::localtime_r(&now, &parts);
  ::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return fmt::format("fade-top-{}{}{}", text.data(), n < 2 ? "" : fmt::format("-{}", n), ending);
}

Result<void> write_all(const Fd& file, const std::string& name, const std::string& text) {
  table::FdBytes bytes(file.get(), name);
  if (auto written = bytes.write(text); !written) return written;
  return bytes.flush();
}

[[noreturn]] void become_fade_query(const std::string& database, const std::string& page, int messages) {
  ::dup2(messages, STDERR_FILENO);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(::open("/dev/null", O_RDWR | O_CLOEXEC), fd);
  execute({"fade-query", "-q", "--output", page, database, "page"});
  ::_exit(127);
}

std::string first_line(int fd) {
  std::array<char, 500> text{};
  const ssize_t size = ::read(fd, text.data(), text.size());
  const std::string_view all(text.data(), static_cast<std::size_t>(size < 0 ? 0 : size));
  return table::printable(all.substr(0, all.find('\n')));
}

}  // namespace

Result<std::string> save(const std::string& text) {
  for (int n = 1;; ++n) {
    std::string name = name_now(".txt", n);
    auto file = open_output_file(name, OutputMode::New, kOwnersOnly);
    if (!file && file.error().code == EEXIST && n < kMostNames) continue;
    if (!file) return tl::unexpected(std::move(file.error()));
    if (auto written = write_all(*file, name, text); !written) return tl::unexpected(std::move(written.error()));
    return name;
  }
}

PageWriter::~PageWriter() {
  if (child_ == 0) return;
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {}
}

std::string PageWriter::start(const std::string& database) {
  if (child_ != 0) return "the page is being written";
  for (int n = 1; n == 1 || (::access(name_.c_str(), F_OK) == 0 && n < kMostNames); ++n) name_ = name_now(".html", n);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "cannot make a pipe";
  messages_ = Fd(ends[0]);
  const Fd write(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) become_fade_query(database, name_, write.get());
  if (child < 0) return "cannot start fade-query";
  child_ = child;
  return "writing " + name_ + " ...";
}

std::optional<std::string> PageWriter::poll() {
  int wait_status = 0;
  if (child_ == 0 || ::waitpid(child_, &wait_status, WNOHANG) != child_) return std::nullopt;
  child_ = 0;
  return outcome(wait_status);
}

std::string PageWriter::outcome(int wait_status) {
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return "wrote " + name_;
  const std::string why = first_line(messages_.get());
  return why.empty() ? "fade-query could not write the page" : why;
}

}  // namespace fade::cli::top
