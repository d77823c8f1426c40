// The server against clients that behave and clients that do not. Every wait ends when something happened, or with the
// test.
#include "ipc/server.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "ipc/client.hpp"

namespace fade::ipc {
namespace {

using namespace std::chrono_literals;

struct Folder {
  Folder() {
    char name[] = "/tmp/fade-ipc-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

// Answers "echo" with its parameters, "never" never, "flood" with `count` events that nobody may want, then a result.
class Echo final : public Handler {
 public:
  void handle(const Peer& peer, const Request& request, AnswerPtr answer) override {
    last_peer = peer;
    ++handled;
    if (request.method == "echo") return answer->result(request.params);
    if (request.method == "fail") return answer->error({"no", "because", "", EPERM});
    kept.push_back(answer);
    if (request.method != "flood") return;
    for (std::int64_t i = integer(request.params, "count").value_or(0); i > 0; --i)
      sent += answer->event({{"fill", std::string(10'000, 'x')}});
    answer->result({{"sent", sent}});
  }
  void refused(const Peer&, const Error& why) override { refusals.push_back(why.message); }

  Peer last_peer;
  int handled = 0, sent = 0;
  std::vector<std::string> refusals;
  std::vector<AnswerPtr> kept;
};

class ServerTest : public testing::Test {
 protected:
  void listen(ServerLimits limits) {
    auto bound = bind_listener(path);
    ASSERT_TRUE(bound) << bound.error().text();
    listener = std::move(*bound);
    server.emplace(loop, echo, limits);
    ASSERT_TRUE(server->listen(listener));
  }
  void run() {
    thread = std::thread([this] { loop.run(); });
  }
  void serve(ServerLimits limits = {}) {
    ASSERT_NO_FATAL_FAILURE(listen(limits));
    run();
  }
  ~ServerTest() override {
    loop.stop();
    if (thread.joinable()) thread.join();
  }
  template <class F>
  auto on_loop(F ask) {
    std::promise<decltype(ask())> promise;
    asio::post(loop, [&] { promise.set_value(ask()); });
    return promise.get_future().get();
  }
  Client client() { return *Client::connect(path); }
  Fd raw() {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  static std::string until_closed(int fd) {
    std::string out;
    char chunk[4096];
    for (ssize_t n; (n = ::recv(fd, chunk, sizeof chunk, 0)) > 0;) out.append(chunk, static_cast<std::size_t>(n));
    return out;
  }

  Folder folder;
  std::string path = folder.path + "/s";
  asio::io_context loop;
  Echo echo;
  Listener listener;
  std::optional<Server> server;
  std::thread thread;
};

TEST_F(ServerTest, AnswersAndKnowsWhoAsks) {
  serve();
  Client c = client();
  EXPECT_EQ(c.call("echo", {{"x", 5}}).value(), Json({{"x", 5}}));
  EXPECT_EQ(c.call("echo", {{"y", 6}}).value(), Json({{"y", 6}}));
  const Peer peer = on_loop([this] { return echo.last_peer; });
  EXPECT_EQ(peer.uid, ::getuid());
  EXPECT_EQ(peer.pid, own_pid());
}

TEST_F(ServerTest, ErrorsArriveWhole) {
  serve();
  const auto answer = client().call("fail", Json::object());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, EPERM);
  EXPECT_EQ(answer.error().cause, "because");
}

TEST_F(ServerTest, OnlyTheOwnerMayConnect) {
  serve();
  struct stat what {};
  ASSERT_EQ(::stat(path.c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 0777, 0600u);
}

TEST_F(ServerTest, AHugeLengthEndsTheConnectionWithAReason) {
  serve();
  const Fd fd = raw();
  ASSERT_EQ(::send(fd.get(), "\xff\xff\xff\x7f", 4, 0), 4);
  EXPECT_NE(until_closed(fd.get()).find("2147483647 bytes"), std::string::npos);
  EXPECT_TRUE(client().call("echo", Json::object()));
}

TEST_F(ServerTest, AnotherVersionIsToldSoAndTheConnectionStays) {
  serve();
  const Fd fd = raw();
  const std::string old = framed(R"({"v":0,"id":9,"method":"echo"})") + framed(R"({"v":1,"id":10,"method":"echo"})");
  ASSERT_EQ(::send(fd.get(), old.data(), old.size(), 0), static_cast<ssize_t>(old.size()));
  ::shutdown(fd.get(), SHUT_WR);
  std::string got = until_closed(fd.get());
  EXPECT_NE(got.find("it says version 0, this is version 1"), std::string::npos) << got;
  EXPECT_EQ(on_loop([this] { return echo.refusals.size(); }), 1u);
}

TEST_F(ServerTest, HalfAMessageIsNotWaitedForForEver) {
  serve({.message_time = 50ms});
  const Fd fd = raw();
  const std::string half = framed("{\"v\":1}").substr(0, 6);
  ASSERT_EQ(::send(fd.get(), half.data(), half.size(), 0), static_cast<ssize_t>(half.size()));
  EXPECT_EQ(until_closed(fd.get()), "");
}

TEST_F(ServerTest, AMessageThatDripsIsNotWaitedForForEver) {
  serve({.message_time = 100ms});
  const Fd fd = raw();
  const std::string message = framed(std::string(100'000, ' '));
  std::size_t sent = 0;
  for (; sent < message.size(); ++sent) {
    if (::send(fd.get(), &message[sent], 1, MSG_NOSIGNAL) != 1) break;
    pollfd closed{fd.get(), POLLRDHUP, 0};
    if (::poll(&closed, 1, 5) == 1) break;
  }
  EXPECT_LT(sent, message.size());
}

TEST_F(ServerTest, IdleConnectionsAreClosedButNotThoseThatWaitForAnAnswer) {
  listen({.idle_time = 50ms});
  const Fd idle = raw(), waiting = raw();
  while (server->connections() < 2) loop.run_one();
  const std::string ask = framed(R"({"v":1,"id":1,"method":"never"})");
  ASSERT_EQ(::send(waiting.get(), ask.data(), ask.size(), 0), static_cast<ssize_t>(ask.size()));
  std::this_thread::sleep_for(100ms);  // of a busy machine: the request and the end of its time are seen together
  run();
  EXPECT_EQ(until_closed(idle.get()), "");
  while (on_loop([this] { return echo.kept.empty(); })) std::this_thread::yield();
  asio::post(loop, [this] { echo.kept[0]->result({{"late", true}}); });
  EXPECT_NE(until_closed(waiting.get()).find("late"), std::string::npos);
}

TEST_F(ServerTest, TooManyConnectionsOfAUserAreRefusedAndPlaceBecomesFree) {
  serve({.connections_per_user = 2});
  std::optional<Client> first = client(), second = client();
  ASSERT_TRUE(first->call("echo", Json::object()) && second->call("echo", Json::object()));
  const auto third = client().call("echo", Json::object());
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, EAGAIN);
  first.reset();
  while (on_loop([this] { return server->connections(); }) > 1) std::this_thread::yield();
  EXPECT_TRUE(client().call("echo", Json::object()));
}

TEST_F(ServerTest, AFloodOfRequestsIsRefusedNotServed) {
  serve({.requests_per_second = 1});
  Client c = client();
  int refused = 0;
  for (int i = 0; i < 200; ++i) refused += !c.call("echo", Json::object());
  EXPECT_GT(refused, 0);
  EXPECT_EQ(on_loop([this] { return echo.handled; }) + refused, 200);
}

TEST_F(ServerTest, OneConnectionHasOnlySoManyOpenRequests) {
  serve({.requests_at_once = 3, .requests_per_second = 1000});
  const Fd fd = raw();
  for (int i = 1; i <= 4; ++i) {
    const std::string ask = framed(request_text({static_cast<std::uint64_t>(i), "never", Json::object()}));
    ASSERT_EQ(::send(fd.get(), ask.data(), ask.size(), 0), static_cast<ssize_t>(ask.size()));
  }
  char chunk[4096];
  const ssize_t n = ::recv(fd.get(), chunk, sizeof chunk, 0);
  ASSERT_GT(n, 0);
  EXPECT_NE(std::string(chunk, static_cast<std::size_t>(n)).find("too many requests are open"), std::string::npos);
}

TEST_F(ServerTest, WhoDoesNotReadLosesEventsAndTheServerKeepsNoMore) {
  serve({.unread_bytes = 1 << 20, .message_time = 60'000ms});
  Client slow = client();
  int seen = 0;
  const auto end = slow.stream("flood", {{"count", 2000}}, [&](const Json&) { return ++seen > 0; });
  ASSERT_TRUE(end) << end.error().text();
  EXPECT_EQ(integer(*end, "sent"), seen);
  EXPECT_LT(seen, 200);
}

TEST_F(ServerTest, AClientThatLeavesIsForgotten) {
  serve();
  {
    const Fd fd = raw();
    const std::string ask = framed(R"({"v":1,"id":1,"method":"never"})");
    ASSERT_EQ(::send(fd.get(), ask.data(), ask.size(), 0), static_cast<ssize_t>(ask.size()));
    while (on_loop([this] { return echo.kept.empty(); })) std::this_thread::yield();
  }
  while (on_loop([this] { return server->connections(); }) > 0) std::this_thread::yield();
  EXPECT_FALSE(on_loop([this] { return echo.kept[0]->open() || echo.kept[0]->event(Json::object()); }));
}

TEST(Client, SaysThatThereIsNoDaemon) {
  const Folder folder;
  const auto none = Client::connect(folder.path + "/none");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().cause, "faded is not running");
}

TEST(Listener, AStaleSocketIsReplacedALiveOneAndAFileAreNot) {
  const Folder folder;
  const std::string path = folder.path + "/s";
  {
    const auto dead = bind_listener(path);
    ASSERT_TRUE(dead);
  }
  const auto alive = bind_listener(path);
  ASSERT_TRUE(alive) << alive.error().text();
  const auto second = bind_listener(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EADDRINUSE);

  const std::string file = folder.path + "/file";
  std::ofstream(file) << "precious";
  EXPECT_EQ(bind_listener(file).error().code, EEXIST);
  EXPECT_TRUE(std::filesystem::exists(file));
  std::filesystem::create_symlink(path, folder.path + "/link");
  EXPECT_FALSE(bind_listener(folder.path + "/link"));
  EXPECT_FALSE(bind_listener(std::string(200, 'x')));
}

TEST(Listener, IsKeptAcrossAnExec) {
  const Folder folder;
  const auto made = bind_listener(folder.path + "/s");
  ASSERT_TRUE(made);
  ASSERT_TRUE(keep_for_exec(*made));
  auto kept = inherited_listener();
  ASSERT_TRUE(kept && *kept);
  EXPECT_EQ((*kept)->path, folder.path + "/s");
  EXPECT_TRUE((*kept)->ours);
  (*kept)->fd.release();
  EXPECT_FALSE(*inherited_listener());
}

TEST(Listener, WhatIsNoListeningSocketIsRefused) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Listener deaf{std::move(fd), "", true};
  ASSERT_TRUE(keep_for_exec(deaf));
  EXPECT_FALSE(inherited_listener());
  ::setenv("LISTEN_FDS", "2", 1);
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_FALSE(inherited_listener());
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
  ::setenv("LISTEN_FDS", "1", 1);
  ::setenv("LISTEN_PID", "1", 1);
  EXPECT_FALSE(inherited_listener().value());
}

}  // namespace
}  // namespace fade::ipc
