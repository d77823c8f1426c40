#include "base/own_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace fade {
namespace {

TEST(OwnMemory, RestoresBeforeItsLastWords) {
  EXPECT_EXIT(
      {
        own_memory::change_consequence(": the view is gone");
        own_memory::before_end([] { (void)!::write(STDERR_FILENO, "restored ", 9); });
        own_memory::ran_out();
      },
      testing::ExitedWithCode(1), "^restored fade: out of memory: the view is gone");
}

}  // namespace
}  // namespace fade
