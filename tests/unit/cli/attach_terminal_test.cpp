// The keyboard on a real terminal, signals, and a capability.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <pty.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "cli/attach/capability.hpp"
#include "cli/attach/detach_signals.hpp"
#include "cli/attach/keyboard.hpp"

namespace fade::cli::attach {
namespace {

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
