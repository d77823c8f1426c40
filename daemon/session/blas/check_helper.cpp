#include "session/blas/check_helper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/own_memory.hpp"

namespace fade {
namespace {

constexpr int kNice = 10;  // the program comes first

std::vector<char*> argv_of(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// A quarter of the processors, unless the user has chosen.
std::vector<std::string> helper_environment() {
  std::vector<std::string> out;
  bool is_chosen = false;
  for (char** variable = environ; *variable; ++variable) {
    out.emplace_back(*variable);
    is_chosen |= out.back().starts_with("OPENBLAS_NUM_THREADS=");
  }
  if (!is_chosen)
    out.push_back(fmt::format("OPENBLAS_NUM_THREADS={}", std::max(1u, std::thread::hardware_concurrency() / 4)));
  return out;
}

// Runs in the grandchild: async-signal-safe calls only. A session of its own keeps the terminal's signals away.
[[noreturn]] void become_helper(char** argv, char** variables, int socket) {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setsid();
  ::setpriority(PRIO_PROCESS, 0, kNice);
  const int sink = ::open("/dev/null", O_WRONLY);
  if (::dup2(socket, STDIN_FILENO) < 0 || ::dup2(sink, STDOUT_FILENO) < 0 || ::dup2(sink, STDERR_FILENO) < 0)
    ::_exit(126);
  own_memory::give_back();
  ::execve(argv[0], argv, variables);
  ::_exit(127);
}

}  // namespace

// The child ends at once, so that init or a reaper waits for the helper, and not fade.
Result<void> CheckHelper::start(const std::string& program, std::uint64_t dumps) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail_errno("cannot create a socket");
  Fd own(ends[0]);
  const Fd other(ends[1]);
  const std::vector<std::string> words{program, "serve", std::to_string(dumps)}, texts = helper_environment();
  auto argv = argv_of(words), variables = argv_of(texts);
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("cannot fork");
  if (child == 0) {
    const pid_t inner = ::fork();
    if (inner == 0) become_helper(argv.data(), variables.data(), other.get());
    ::_exit(inner < 0 ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail("cannot fork");
  socket_ = std::move(own);
  return {};
}

bool CheckHelper::send(const blas::Request& request, const Fd& matrices) {
  return socket_ && blas::send_message(socket_.get(), to_text(request), matrices.get());
}

std::vector<blas::Answer> CheckHelper::answers(std::chrono::milliseconds patience) {
  std::vector<blas::Answer> out;
  if (!socket_) return out;
  if (patience.count() > 0) {
    pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, static_cast<int>(patience.count()));
  }
  bool is_closed = false;
  while (const auto message = blas::receive_message(socket_.get(), false, &is_closed))
    if (auto answer = blas::answer_from(message->text)) out.push_back(std::move(*answer));
  if (is_closed) socket_.close();
  return out;
}

}  // namespace fade
