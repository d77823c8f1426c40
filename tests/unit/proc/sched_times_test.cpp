#include "proc/sched_times.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

namespace fade {
namespace {

Fd file_of(std::string_view text) {
  Fd file(::memfd_create("schedstat", MFD_CLOEXEC));
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return file;
}

TEST(SchedTimes, AreThreeNumbers) {
  const auto times = SchedTimes::read(file_of("123456789012 42 7\n"));
  ASSERT_TRUE(times.has_value());
  EXPECT_EQ(times->ran_ns, 123456789012);
  EXPECT_EQ(times->waited_ns, 42);
  EXPECT_EQ(times->turns, 7u);
}

TEST(SchedTimes, AreNotReadFromOtherTexts) {
  for (const std::string_view text : {"", "1", "1 2", "1 2 x", "-", "a b c", "1 2 -3"})
    EXPECT_FALSE(SchedTimes::read(file_of(text))) << text;
  EXPECT_FALSE(SchedTimes::read(Fd()));
}

}  // namespace
}  // namespace fade
