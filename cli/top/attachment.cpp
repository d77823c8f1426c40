#include "cli/top/attachment.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "cli/top/programs.hpp"

namespace fade::cli::top {
namespace {

constexpr int kLook = 100;  // ms between two looks of the keeper
constexpr std::size_t kMostMessages = 64 << 10;
constexpr int kCannotStart = 125;

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// The user's folder for files of a session, if no other user may write there.
std::string parent_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  struct stat about {};
  const bool fits = runtime != nullptr && *runtime == '/' && ::stat(runtime, &about) == 0 && S_ISDIR(about.st_mode) &&
                    about.st_uid == ::geteuid() && (about.st_mode & 022) == 0;
  return fits ? runtime : "/tmp";
}

Result<std::string> make_folder() {
  std::string name = parent_folder() + "/fade-top-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return fail_errno("cannot make the folder " + name);
  return name;
}

// Sums alone; a stack now and then. Costly functions are recorded with less detail, so the program stays about as fast.
// clang-format off
std::vector<std::string> attach_words(Pid target, const std::string& database) {
  return {"fade-attach", "-q", "--no-summary", "--output", database, "--max-size", "256M", "--on-full", "stats",
          "--detail", "stats", "--budget", "3%", "--stacks", "sample=100", "--sample", "50",
          "--", std::to_string(target.value())};
}
// clang-format on

// ---------------------------------------------------------------- in the keeper
struct KeeperEnds {
  Fd life, status, messages;
};

void give_signals_their_usual_meaning() {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGCHLD})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void put_nothing_on_standard_streams(int error) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(error >= 0 ? error : nothing, STDERR_FILENO);
}

// The death signal serves if the keeper is killed. The kernel drops it where fade-attach has capabilities of its file.
[[noreturn]] void become_fade_attach(Pid target, const std::string& database, int messages, pid_t keeper) {
  give_signals_their_usual_meaning();
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != keeper) ::_exit(0);
  put_nothing_on_standard_streams(messages);
  execute(attach_words(target, database));
  const std::string_view why = "fade-top: cannot start fade-attach: it is neither beside fade-top nor in PATH\n";
  (void)!::write(STDERR_FILENO, why.data(), why.size());
  ::_exit(kCannotStart);
}

bool is_closed(int fd, int patience_ms) {
  pollfd asked{fd, POLLIN, 0};
  return ::poll(&asked, 1, patience_ms) == 1;
}

void tell(int fd, int wait_status) {
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
  (void)!::write(fd, &status, sizeof status);
}

// Until `life` closes. Then fade-attach detaches; it ends by itself if its program ends.
void keep(pid_t attached, const KeeperEnds& ends) {
  bool runs = true, asked = false;
  for (;;) {
    const bool over = is_closed(ends.life.get(), kLook);
    if (over && runs && !asked) ::kill(attached, SIGTERM), asked = true;
    int wait_status = 0;
    if (runs && ::waitpid(attached, &wait_status, over ? 0 : WNOHANG) == attached) {
      runs = false;
      tell(ends.status.get(), wait_status);
    }
    if (over && !runs) return;
  }
}

[[noreturn]] void be_the_keeper(Pid target, const std::string& folder, KeeperEnds ends) {
  ::setsid();
  ::prctl(PR_SET_NAME, "fade-top-keeper");
  const pid_t self = ::getpid();
  const pid_t attached = ::fork();
  if (attached == 0) become_fade_attach(target, folder + "/top.db", ends.messages.get(), self);
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  ends.messages.close();
  put_nothing_on_standard_streams(-1);
  if (attached > 0) keep(attached, ends);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  ::_exit(0);
}

}  // namespace

Result<Attachment> Attachment::start(Pid target) {
  auto life = make_pipe(), status = make_pipe(), messages = make_pipe();
  for (auto* pipe : {&life, &status, &messages})
    if (!*pipe) return tl::unexpected(std::move(pipe->error()));
  ::fcntl(messages->write.get(), F_SETFL, O_NONBLOCK);  // fade-attach never waits for a reader
  auto folder = make_folder();
  if (!folder) return tl::unexpected(std::move(folder.error()));
  const pid_t keeper = ::fork();
  if (keeper < 0) {
    auto failed = fail_errno("cannot start a process");
    ::rmdir(folder->c_str());
    return failed;
  }
  if (keeper == 0) {
    for (Fd* unused : {&life->write, &status->read, &messages->read}) unused->close();
    be_the_keeper(target, *folder, {std::move(life->read), std::move(status->write), std::move(messages->write)});
  }
  Attachment made;
  made.folder_ = std::move(*folder);
  made.life_ = std::move(life->write);
  made.status_ = std::move(status->read);
  made.messages_ = std::move(messages->read);
  made.keeper_ = keeper;
  for (const Fd* fd : {&made.status_, &made.messages_}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  return made;
}

Attachment::~Attachment() {
  if (!life_) return;
  life_.close();
  while (::waitpid(keeper_, nullptr, 0) < 0 && errno == EINTR) {}
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);  // if the keeper was killed
}

std::optional<int> Attachment::status() {
  int status = 0;
  if (ended_with_) return ended_with_;
  const ssize_t size = ::read(status_.get(), &status, sizeof status);
  if (size == sizeof status) ended_with_ = status;
  else if (size == 0) ended_with_ = kCannotStart;  // the keeper was killed
  return ended_with_;
}

const std::string& Attachment::messages() {
  std::array<char, 4096> part{};
  ssize_t size = 0;
  while (said_.size() < kMostMessages && (size = ::read(messages_.get(), part.data(), part.size())) > 0)
    said_.append(part.data(), static_cast<std::size_t>(size));
  return said_;
}

}  // namespace fade::cli::top
