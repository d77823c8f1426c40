#include "proc/living_thread.hpp"

#include <gmock/gmock.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace fade {
namespace {

void* sleep_for_ever(void*) {
  for (;;) ::pause();
}

// Its first thread ends, another one stays.
Pid start_leaderless() {
  const pid_t pid = ::fork();
  if (pid != 0) return Pid::of(pid);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pthread_t other;
  ::pthread_create(&other, nullptr, sleep_for_ever, nullptr);
  ::syscall(SYS_exit, 0);  // without unwinding into the test
  ::abort();
}

TEST(LivingThread, IsTheLeaderWhileItLives) { EXPECT_EQ(living_thread(own_pid()), leader_of(own_pid())); }

TEST(LivingThread, OfNobodyIsNobodyElse) { EXPECT_EQ(living_thread(Pid(0x7ffffff0)), Tid(0x7ffffff0)); }

TEST(LivingThread, IsAnotherWhereTheLeaderHasEnded) {
  const Pid pid = start_leaderless();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (living_thread(pid) == leader_of(pid) && std::chrono::steady_clock::now() < deadline) ::usleep(1000);
  const std::string alive = std::to_string(living_thread(pid).value());
  EXPECT_NE(alive, std::to_string(pid.value()));
  EXPECT_TRUE(std::filesystem::exists("/proc/" + std::to_string(pid.value()) + "/task/" + alive));
  std::ifstream maps("/proc/" + alive + "/maps");
  EXPECT_NE(maps.peek(), std::ifstream::traits_type::eof());
  ::kill(pid.value(), SIGKILL);
  ::waitpid(pid.value(), nullptr, 0);
  EXPECT_EQ(living_thread(pid), leader_of(pid));
}

}  // namespace
}  // namespace fade
