#include "base/text_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fade {
namespace {

TEST(TextFile, IsReadWholeUpToItsLimit) {
  const std::string path = testing::TempDir() + "/fade_text_file_" + std::to_string(::getpid());
  const std::string text = std::string("a\0b\n", 4) + std::string(100'000, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(read_text_file(path, "cannot read it").value(), text);
  std::ofstream(path) << std::string(kLargestTextFile, 'x');
  EXPECT_EQ(read_text_file(path, "cannot read it").value().size(), kLargestTextFile);
  std::ofstream(path) << std::string(kLargestTextFile + 1, 'x');
  EXPECT_EQ(read_text_file(path, "cannot read it").error().code, EFBIG);
  std::filesystem::remove(path);
}

TEST(TextFile, SaysWhatStandsInTheWay) {
  EXPECT_EQ(read_text_file("/dev/zero", "cannot read it").error().code, EFBIG);
  EXPECT_EQ(read_text_file("/", "cannot read it").error().text(), "cannot read it\n  cause: Is a directory");
  EXPECT_EQ(read_text_file("/nonexistent/x", "cannot read it").error().code, ENOENT);
  EXPECT_EQ(read_text_file("/dev/null", "cannot read it").value(), "");
}

}  // namespace
}  // namespace fade
