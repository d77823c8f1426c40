// Keyboard, signals and console on real terminals and pipes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "base/log.hpp"
#include "cli/attach/capability.hpp"
#include "cli/attach/console.hpp"
#include "cli/attach/detach_signals.hpp"
#include "cli/attach/keyboard.hpp"
#include "cli/attach/watcher.hpp"

namespace fade::cli::attach {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// ---------------------------------------------------------------- keyboard
// Runs `part` in the foreground of a terminal of its own; the test types and reads at its other end. Exit status of
// part.
int on_terminal(const std::function<void(int)>& user, const std::function<bool()>& part) {
  int screen = -1;
  const pid_t child = ::forkpty(&screen, nullptr, nullptr, nullptr);
  if (child == 0) ::_exit(part() ? 0 : 1);
  user(screen);
  int status = -1;
  ::waitpid(child, &status, 0);
  ::close(screen);
  return status;
}

void type(int screen, const std::string& keys) {
  ASSERT_EQ(::write(screen, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

bool comes(Keyboard& keyboard) {
  for (int i = 0; i < 3000; ++i) {
    if (keyboard.enter()) return true;
    ::poll(nullptr, 0, 10);
  }
  return false;
}

TEST(Keyboard, EnterIsSeen) {
  const int status = on_terminal([](int screen) { type(screen, "x\n"); },
                                 [] {
                                   Keyboard keyboard(STDIN_FILENO);
                                   const bool before = (::fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK) == 0;
                                   return keyboard.can_read() && comes(keyboard) && !keyboard.enter() && before;
                                 });
  EXPECT_EQ(status, 0);
}

TEST(Keyboard, IsLeftAloneInTheBackground) {
  const int status = on_terminal([](int screen) { type(screen, "\n"); },
                                 [] {
                                   Keyboard keyboard(STDIN_FILENO);
                                   pollfd typed{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
                                   ::poll(&typed, 1, 30'000);
                                   const pid_t background = ::fork();
                                   if (background == 0) {
                                     ::setpgid(0, 0);
                                     ::_exit(!keyboard.can_read() && !keyboard.enter() ? 0 : 1);
                                   }
                                   int ended = -1;
                                   ::waitpid(background, &ended, WUNTRACED);  // reading would have stopped it
                                   return ended == 0 && comes(keyboard);      // and the key is still there for us
                                 });
  EXPECT_EQ(status, 0);
}

TEST(Keyboard, OnlyATerminalIsRead) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const Fd in(pipe[0]), out(pipe[1]);
  ASSERT_EQ(::write(out.get(), "\n", 1), 1);
  Keyboard keyboard(in.get());
  EXPECT_FALSE(keyboard.can_read());
  EXPECT_FALSE(keyboard.enter());
  char left = 0;
  EXPECT_EQ(::read(in.get(), &left, 1), 1);
}

// ---------------------------------------------------------------- signals
TEST(DetachSignals, AskToDetachAsOftenAsTheyCome) {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP}) {
    const DetachSignals signals;
    EXPECT_FALSE(signals.detach_asked());
    for (int i = 0; i < 3; ++i) ::raise(signal);
    EXPECT_TRUE(signals.detach_asked()) << signal;
    EXPECT_FALSE(signals.stop_asked());
  }
}

TEST(DetachSignals, NothingStopsUs) {
  const DetachSignals signals;
  for (const int signal : {SIGTSTP, SIGTTIN, SIGPIPE}) ::raise(signal);  // else the test would stop here
  EXPECT_TRUE(signals.stop_asked());
  EXPECT_FALSE(signals.detach_asked());
}

TEST(DetachSignals, WhatWasIgnoredStaysIgnored) {
  ::signal(SIGHUP, SIG_IGN);
  {
    const DetachSignals signals;
    ::raise(SIGHUP);
    EXPECT_FALSE(signals.detach_asked());
  }
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST(DetachSignals, EverythingIsPutBack) {
  { const DetachSignals signals; }
  EXPECT_EQ(::signal(SIGINT, SIG_DFL), SIG_DFL);
  EXPECT_EQ(::signal(SIGTSTP, SIG_DFL), SIG_DFL);
}

// ---------------------------------------------------------------- console
class ConsoleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("COLUMNS");
    log::set_program("fade");
  }
  void TearDown() override { log::set_destination(STDERR_FILENO); }

  void terminal(unsigned short columns) {
    int screen = -1, ours = -1;
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ASSERT_EQ(::openpty(&screen, &ours, nullptr, nullptr, &size), 0);
    reader_ = Fd(screen);
    writer_ = Fd(ours);
  }
  void pipe() {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    reader_ = Fd(ends[0]);
    writer_ = Fd(ends[1]);
  }
  // What has been written up to now.
  std::string seen() {
    std::string text;
    char buffer[4096];
    ::fcntl(reader_.get(), F_SETFL, O_NONBLOCK);
    for (ssize_t n; (n = ::read(reader_.get(), buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }
  std::size_t fill(int fd) {
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    std::size_t all = 0;
    for (ssize_t n; (n = ::write(fd, "................", 16)) > 0;) all += static_cast<std::size_t>(n);
    ::fcntl(fd, F_SETFL, 0);
    return all;
  }

  const Console::Manner manner_{.hint = "[Enter] detach"};
  const Watched watched_{{.pid = 7, .program = "app", .database = "x.db"}, 1};
  Fd reader_, writer_;
};

TEST_F(ConsoleTest, TheLineIsRewrittenInPlaceAndTakenAway) {
  terminal(100);
  {
    Console console(writer_.get(), manner_);
    console.numbers({.elapsed_ns = 1'000'000'000, .calls = 123'000});
    EXPECT_EQ(seen(), "\r* 00:00:01  123k calls/s  mem +0 B since attach  err 0  db 0 B  [Enter] detach  peak +0 B");
    console.numbers({.elapsed_ns = 2'000'000'000, .calls = 123'000});
    EXPECT_EQ(seen(),
              "\r* 00:00:02  0 calls/s  mem +0 B since attach  err 0  db 0 B  [Enter] detach  peak +0 B   \b\b\b");
  }
  EXPECT_EQ(seen(), '\r' + std::string(86, ' ') + '\r');
}

TEST_F(ConsoleTest, MessagesDoNotMixWithTheLine) {
  terminal(100);
  Console console(writer_.get(), manner_);
  console.numbers({});
  seen();
  console.attached(watched_);
  const std::string text = seen();
  EXPECT_EQ(text.rfind("\r "), 0u);
  EXPECT_THAT(text, HasSubstr(" \rfade: attached to app (pid 7), recording to x.db\r\n"));
  console.stop_refused("Enter detaches");
  EXPECT_THAT(seen(), EndsWith("Enter detaches\r\n"));
}

TEST_F(ConsoleTest, TheLineIsCutToTheTerminal) {
  terminal(30);
  Console console(writer_.get(), manner_);
  console.numbers({});
  EXPECT_EQ(seen(), "\r* 00:00:00  0 calls/s");
  const winsize narrow{.ws_row = 24, .ws_col = 12, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(reader_.get(), TIOCSWINSZ, &narrow), 0);
  console.numbers({});
  const std::string text = seen();
  EXPECT_EQ(text, "\r* 00:00:00 \b");  // blanks do not go beyond the new width either
}

TEST_F(ConsoleTest, OnlyATerminalHasALine) {
  pipe();
  Console console(writer_.get(), manner_);
  console.numbers({});
  EXPECT_THAT(seen(), IsEmpty());
  console.attached(watched_);
  EXPECT_EQ(seen(), "fade: attached to app (pid 7), recording to x.db\nfade: held none of 0 threads\n");
}

TEST_F(ConsoleTest, QuietMeansNoLine) {
  terminal(100);
  Console console(writer_.get(), {.live = false});
  console.numbers({});
  EXPECT_THAT(seen(), IsEmpty());
}

TEST_F(ConsoleTest, AFullPipeHoldsNobody) {
  pipe();
  const std::size_t full = fill(writer_.get());
  {
    Console console(writer_.get(), manner_);
    console.attached(watched_);  // returns
    log::error("from anywhere");
  }
  EXPECT_EQ(::fcntl(writer_.get(), F_GETFL) & O_NONBLOCK, 0);  // whoever shares the pipe still waits for it
  EXPECT_EQ(seen().size(), full);
}

TEST_F(ConsoleTest, ATerminalThatIsNotReadHoldsNobody) {
  terminal(100);
  Console console(writer_.get(), manner_);
  for (int i = 0; i < 5000; ++i) console.numbers({.elapsed_ns = i});  // returns
  EXPECT_THAT(seen(), HasSubstr("calls/s"));
  console.numbers({});
  EXPECT_THAT(seen(), HasSubstr("* 00:00:00"));
}

TEST_F(ConsoleTest, AFileIsWrittenAtItsEnd) {
  const std::string path = ::testing::TempDir() + "fade-console-" + std::to_string(::getpid());
  std::ofstream(path) << "before\n";
  {
    const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND));
    log::set_destination(file.get());
    Console console(file.get(), manner_);
    console.attached(watched_);
  }
  std::ifstream in(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}),
            "before\nfade: attached to app (pid 7), recording to x.db\nfade: held none of 0 threads\n");
  ::unlink(path.c_str());
}

// ---------------------------------------------------------------- all of it together
using Wish = AttachObserver::Wish;

class WatcherTest : public ConsoleTest {
 protected:
  void SetUp() override {
    ConsoleTest::SetUp();
    pipe();
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    daemon_ = Fd(ends[0]);
    control_.emplace(std::move(*Control::open(ends[1])));
  }
  Fd daemon_;
  std::optional<Control> control_;
};

TEST_F(WatcherTest, TheDaemonIsToldAndObeyed) {
  const DetachSignals signals;
  Keyboard keyboard(reader_.get());
  Console console(writer_.get(), manner_);
  Watcher watcher(console, keyboard, signals, &*control_, 2);
  EXPECT_EQ(watcher.wish(), Wish::GoOn);
  watcher.attached(watched_.first);
  watcher.tick({});
  EXPECT_THAT(seen(), HasSubstr("app (pid 7) and 1 more process"));
  EXPECT_EQ(watcher.watched().first.pid, Pid(7));
  char buffer[4096];
  const std::string told(buffer, static_cast<std::size_t>(::recv(daemon_.get(), buffer, sizeof buffer, 0)));
  EXPECT_THAT(told, HasSubstr("\"event\":\"attached\""));
  EXPECT_THAT(told, HasSubstr("\"event\":\"tick\""));
  ASSERT_EQ(::send(daemon_.get(), "{\"do\":\"stop\"}\n", 14, 0), 14);
  EXPECT_EQ(watcher.wish(), Wish::Detach);
}

TEST_F(WatcherTest, ASignalDetachesAtOnceAndCtrlZIsAnsweredOnce) {
  const DetachSignals signals;
  Keyboard keyboard(reader_.get());
  Console console(writer_.get(), manner_);
  Watcher watcher(console, keyboard, signals, nullptr, 1);
  ::raise(SIGTSTP);
  EXPECT_EQ(watcher.wish(), Wish::GoOn);
  EXPECT_EQ(seen(), "fade: not stopping: the program would stand still with fade. Ctrl-C detaches\n");
  ::raise(SIGTSTP);
  EXPECT_EQ(watcher.wish(), Wish::GoOn);
  EXPECT_THAT(seen(), IsEmpty());
  ::raise(SIGINT);
  EXPECT_EQ(watcher.wish(), Wish::Detach);
}

// ---------------------------------------------------------------- capability
bool has_ptrace(const char* set) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(set)) return (std::stoull(line.substr(line.find('\t') + 1), nullptr, 16) >> 19 & 1) != 0;
  return false;
}

TEST(Capability, WhatIsPermittedIsPutIntoEffect) {
  if (!has_ptrace("CapPrm")) GTEST_SKIP() << "needs CAP_SYS_PTRACE";
  const auto lower_and_raise = [] {
    struct {
      std::uint32_t version;
      int pid;
    } header{0x20080522, 0};
    struct {
      std::uint32_t effective, permitted, inheritable;
    } sets[2];
    ::syscall(SYS_capget, &header, sets);
    sets[0].effective &= ~(1u << 19);
    ::syscall(SYS_capset, &header, sets);
    const bool lowered = !has_ptrace("CapEff");
    raise_ptrace_capability();
    ::_exit(lowered && has_ptrace("CapEff") ? 0 : 1);
  };
  EXPECT_EXIT(lower_and_raise(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fade::cli::attach
