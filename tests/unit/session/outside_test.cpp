// Where a thread is, and where its signal handlers return to.
#include "session/outside.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <thread>

#include "ptrace/process_memory.hpp"
#include "ptrace/tracees.hpp"

// Each spins until the byte is set.
asm(R"(
        .text
fade_outside_first:
        cmpb $0, (%rdi)
        je fade_outside_first
        ret
fade_outside_second:
        cmpb $0, (%rdi)
        je fade_outside_second
        ret
fade_outside_end:
)");
extern "C" void fade_outside_first(volatile char*), fade_outside_second(volatile char*), fade_outside_end();

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

RemoteAddr at(void (*function)()) { return {reinterpret_cast<std::uint64_t>(function)}; }
RemoteAddr at(void (*function)(volatile char*)) { return {reinterpret_cast<std::uint64_t>(function)}; }
std::vector<RemoteRange> spinning() {
  return {{at(fade_outside_first), at(fade_outside_second)}, {at(fade_outside_second), at(fade_outside_end)}};
}

RangesMet met_here() {
  const ProcessMemory memory(own_pid());
  const auto sp = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  return ranges_around(memory, at(fade_outside_end), {sp}, spinning());
}

volatile char first_flag, second_flag;
volatile bool first_met = false, second_met = false;  // a signal that comes too early is sent again
RangesMet in_first, in_second;

// Interrupts the first function, and is interrupted in the second one.
void on_first(int) {
  if (first_met || (in_first = met_here()).empty()) return;
  first_met = true;
  fade_outside_second(&second_flag);
  first_flag = 1;
}
void on_second(int) {
  if (second_met || (in_second = met_here()).size() < 2) return;
  second_met = true;
  second_flag = 1;
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

TEST(Outside, AThreadIsWhereItStands) {
  const ProcessMemory memory(own_pid());
  const auto sp = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  EXPECT_THAT(ranges_around(memory, at(fade_outside_first) + 3, {sp}, spinning()), ElementsAre(0));
  EXPECT_THAT(ranges_around(memory, at(fade_outside_second), {sp}, spinning()), ElementsAre(1));
  EXPECT_THAT(ranges_around(memory, at(fade_outside_end), {sp}, spinning()), IsEmpty());
}

// The second handler has a stack of its own, so the frame of the first one is found through it.
TEST(Outside, HandlersReturnToWhereTheyCameFrom) {
  std::jthread([] {
    std::vector<char> stack(64 * 1024);
    const stack_t own{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
    ::sigaltstack(&own, nullptr);
    handle(SIGUSR1, on_first, 0);
    handle(SIGUSR2, on_second, SA_ONSTACK);
    const pthread_t self = ::pthread_self();
    const std::jthread sender([self] {
      for (; !first_met; std::this_thread::sleep_for(std::chrono::milliseconds(5))) ::pthread_kill(self, SIGUSR1);
      for (; !second_met; std::this_thread::sleep_for(std::chrono::milliseconds(5))) ::pthread_kill(self, SIGUSR2);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(0));
    fade_outside_first(&first_flag);
    const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    ::sigaltstack(&none, nullptr);
  }).join();
  EXPECT_THAT(in_first, ElementsAre(0));
  EXPECT_THAT(in_second, ElementsAre(0, 1));
}

}  // namespace
}  // namespace fade
