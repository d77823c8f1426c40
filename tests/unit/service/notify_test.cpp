#include "service/notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>

#include "base/fd.hpp"
#include "support.hpp"

namespace fade::service {
namespace {

TEST(Notify, SaysItWhereSystemdListens) {
  const test::Folder folder;
  const Fd listener(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder.path + "/n";
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  EXPECT_TRUE(notify("READY=1\nSTATUS=x"));
  char text[64];
  const ssize_t size = ::recv(listener.get(), text, sizeof text, 0);
  EXPECT_EQ(std::string(text, static_cast<std::size_t>(size)), "READY=1\nSTATUS=x");

  int said = 0;  // nobody reads: it must end by itself
  while (notify_without_waiting("WATCHDOG=1") && said < 100'000) ++said;
  EXPECT_LT(said, 100'000);

  for (const char* nowhere : {"", "relative", "/", "/no/such/socket"}) {
    ::setenv("NOTIFY_SOCKET", nowhere, 1);
    EXPECT_FALSE(notify("READY=1")) << nowhere;
  }
  ::setenv("NOTIFY_SOCKET", std::string(300, '/').c_str(), 1);
  EXPECT_FALSE(notify("READY=1"));
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_FALSE(notify("READY=1"));
}

TEST(Notify, TheWatchdogIsForOneProcess) {
  EXPECT_FALSE(watchdog_period_us());
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  EXPECT_EQ(watchdog_period_us(), 30'000'000u);
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(watchdog_period_us());
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  EXPECT_EQ(watchdog_period_us(), 30'000'000u);
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace fade::service
