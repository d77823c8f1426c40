#include "base/pid.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <concepts>

namespace fade {
namespace {

static_assert(!std::convertible_to<Pid, Tid> && !std::convertible_to<Tid, Pid>);
static_assert(!std::convertible_to<Pid, pid_t> && !std::equality_comparable_with<Pid, Tid>);
static_assert(std::convertible_to<Pid, TaskId> && std::convertible_to<Tid, TaskId>);
static_assert(leader_of(7) == 7 && process_of_leader(7) == 7);
static_assert(TaskId(Pid(7)).thread() == leader_of(7) && TaskId(Tid(8)).value() == 8);
static_assert(std::atomic<Pid>::is_always_lock_free);  // a handler of signals reads one

TEST(Pid, IsShownAsItsNumber) { EXPECT_EQ(fmt::format("{}, {:>4}", Pid(7), Tid(8)), "7,    8"); }

TEST(Pid, OfThisProcess) { EXPECT_EQ(own_pid().value(), ::getpid()); }

}  // namespace
}  // namespace fade
