// The console on real terminals and pipes, and the watcher with all its parts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "cli/attach/detach_signals.hpp"
#include "cli/attach/keyboard.hpp"
#include "cli/attach/watcher.hpp"
#include "cli/attach_console.hpp"

namespace fade::cli::attach {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
  EXPECT_EQ(::fcntl(writer_.get(), F_GETFL) & O_NONBLOCK, 0);  // other users of the pipe still wait for it
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

}  // namespace
}  // namespace fade::cli::attach
