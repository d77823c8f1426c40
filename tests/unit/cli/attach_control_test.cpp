// The worker's end of the socket to the daemon, with the test as the daemon.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/attach/control.hpp"

namespace fade::cli::attach {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Wish = AttachObserver::Wish;

class ControlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    daemon_ = Fd(ends[0]);
    const int small = 4096;
    ::setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    auto control = Control::open(ends[1]);
    ASSERT_TRUE(control);
    control_.emplace(std::move(*control));
  }

  void order(const std::string& text) {
    ASSERT_EQ(::send(daemon_.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  // Until there is nothing left to be asked for.
  std::vector<Wish> wishes() {
    std::vector<Wish> all;
    for (Wish wish; (wish = control_->wish()) != Wish::GoOn;) all.push_back(wish);
    return all;
  }
  // What has arrived up to now, whole lines only.
  std::vector<json> events() {
    char buffer[4096];
    for (ssize_t n; (n = ::recv(daemon_.get(), buffer, sizeof buffer, MSG_DONTWAIT)) > 0;)
      text_.append(buffer, static_cast<std::size_t>(n));
    std::vector<json> all;
    for (std::size_t end; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      EXPECT_LT(end, kLongestLine);
      all.push_back(json::parse(text_.substr(0, end)));
    }
    return all;
  }
  int fill() {
    int sent = 0;
    for (std::int64_t i = 0; i < 1000; ++i, ++sent) control_->tick({.elapsed_ns = i});
    return sent;
  }

  Fd daemon_;
  std::optional<Control> control_;
  std::string text_;
};

TEST_F(ControlTest, TellsWhatHappens) {
  control_->attached({.pid = 7, .program = "python3", .database = "x.db", .holds = {4, 2, 10, 20}, .notes = {"n"}});
  control_->tick({1, 2, 3, 4, 5, 6, 7, 8, 9, {{1, 40, 50, true, false}, {2, 0, 60, false, true}}});
  AttachOutcome outcome{.ended = true, .bytes_differing = 9};
  outcome.summary.calls = 12;
  outcome.summary.errors = 1;
  outcome.summary.launches = 5;
  outcome.summary.database = "x.db";
  control_->ended(outcome);
  const auto all = events();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0], json::parse(R"({"event":"attached","pid":7,"program":"python3","database":"x.db",
      "holds":{"threads":4,"held":2,"median_ns":10,"worst_ns":20},"notes":["n"]})"));
  EXPECT_EQ(all[1], json::parse(R"({"event":"tick","elapsed_ns":1,"calls":2,"errors":3,"dropped":4,"memory_bytes":5,
      "peak_bytes":6,"database_bytes":7,"launches":8,"gpu_busy_ns":9,
      "gpus":[{"node":1,"busy_percent":40},{"node":2,"memory_bytes":60}]})"));
  EXPECT_EQ(all[2]["event"], "ended");
  EXPECT_EQ(all[2]["ended"], true);
  EXPECT_EQ(all[2]["calls"], 12);
  EXPECT_EQ(all[2]["launches"], 5);
  EXPECT_EQ(all[2]["bytes_differing"], 9);
  EXPECT_FALSE(std::filesystem::exists("x.db.end")) << "a relative path is none of a daemon's";
}

TEST_F(ControlTest, TellsWhyItFailed) {
  control_->failed({"cannot attach", "because", "sudo", EPERM});
  EXPECT_THAT(
      events(),
      ElementsAre(json{
          {"event", "failed"}, {"code", EPERM}, {"message", "cannot attach"}, {"cause", "because"}, {"fix", "sudo"}}));
}

TEST_F(ControlTest, ObeysOneOrderAfterTheOther) {
  EXPECT_EQ(control_->wish(), Wish::GoOn);
  order("{\"do\":\"pause\"}\n{\"do\":\"resume\"}\n{\"do\":\"st");
  EXPECT_THAT(wishes(), ElementsAre(Wish::Pause, Wish::Resume));
  order("op\"}\n");
  EXPECT_THAT(wishes(), ElementsAre(Wish::Detach));
}

TEST_F(ControlTest, IgnoresWhatItDoesNotUnderstand) {
  order("\n[]\nnull\n{}\n{\"do\":7}\n{\"do\":\"explode\"}\n{\"do\":\n\xff\xfe\n" + std::string(200, '[') +
        "\n{\"do\":\"pause\",\"more\":1}\n");
  EXPECT_THAT(wishes(), ElementsAre(Wish::Pause));
}

TEST_F(ControlTest, ALineWithoutEndIsSkipped) {
  std::thread daemon([&] { order(std::string(3 * kLongestLine, 'x') + "{\"do\":\"stop\"}\n{\"do\":\"pause\"}\n"); });
  Wish wish = Wish::GoOn;
  while ((wish = control_->wish()) == Wish::GoOn) std::this_thread::yield();
  daemon.join();
  EXPECT_EQ(wish, Wish::Pause);  // the stop belonged to the long line
}

TEST_F(ControlTest, ADaemonThatDoesNotReadCostsTicksOnly) {
  const int sent = fill();
  const auto before = events();
  EXPECT_LT(before.size(), static_cast<std::size_t>(sent));
  EXPECT_GT(before.size(), 0u);
  control_->tick({.elapsed_ns = 5000});
  const auto after = events();
  ASSERT_FALSE(after.empty());
  EXPECT_EQ(after.back()["elapsed_ns"], 5000);
}

TEST_F(ControlTest, WhatIsNoTickIsNotDropped) {
  fill();
  control_->attached({.pid = 7});
  std::vector<json> all;
  while (all.empty() || all.back()["event"] != "attached") {
    for (json& event : events()) all.push_back(std::move(event));
    control_->wish();  // sends what is left
  }
  EXPECT_EQ(all.back()["pid"], 7);
}

TEST_F(ControlTest, TheLastWordWaitsForADaemonThatReadsLate) {
  fill();
  std::vector<json> all;
  std::atomic<bool> begun = false;
  std::thread daemon([&] {
    begun = true;
    while (all.empty() || all.back()["event"] != "ended")
      for (json& event : events()) all.push_back(std::move(event));
  });
  while (!begun) std::this_thread::yield();  // who comes later than ended() waits for never hears of it
  control_->ended({});
  daemon.join();
  EXPECT_EQ(all.back()["ended"], false);
}

TEST_F(ControlTest, TheLastWordDoesNotWaitForEver) {
  fill();
  control_->ended({});  // nobody reads: this returns
  for (const json& event : events()) EXPECT_EQ(event["event"], "tick");
}

TEST_F(ControlTest, GoesOnWithoutTheDaemon) {
  order("{\"do\":\"pause\"}\n");
  daemon_.close();
  EXPECT_THAT(wishes(), ElementsAre(Wish::Pause));
  EXPECT_EQ(control_->wish(), Wish::GoOn);
  EXPECT_FALSE(control_->open());
  control_->tick({});
  control_->ended({});
  EXPECT_EQ(control_->wish(), Wish::GoOn);
}

TEST_F(ControlTest, ADaemonThatDiedIsNoSignalForUs) {
  daemon_.close();
  control_->tick({});  // SIGPIPE would end the test
  EXPECT_FALSE(control_->open());
}

TEST_F(ControlTest, LinesStayBelowTheirLimit) {
  control_->attached({.pid = 7, .program = "caf\xe9", .notes = std::vector<std::string>(100, std::string(1000, 'n'))});
  std::vector<json> all;
  while (all.empty()) {
    all = events();  // checks the length
    control_->wish();
  }
  EXPECT_THAT(all, SizeIs(1));
  EXPECT_GT(all[0]["notes"].size(), 50u);
  EXPECT_LT(all[0]["notes"].size(), 100u);
  EXPECT_EQ(all[0]["program"], "caf\xef\xbf\xbd");
}

TEST(ControlOpening, TakesOnlyAStreamSocket) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const Fd in(pipe[0]), out(pipe[1]);
  const auto opened = Control::open(in.get());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, EINVAL);
  EXPECT_THAT(opened.error().message, HasSubstr("is no stream socket"));
  EXPECT_FALSE(Control::open(1023));
  EXPECT_GE(::fcntl(in.get(), F_GETFD), 0);  // what was refused is left alone
}

TEST_F(ControlTest, IsNotInherited) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const Fd peer(ends[0]);
  const auto control = Control::open(ends[1]);
  EXPECT_EQ(::fcntl(ends[1], F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace fade::cli::attach
