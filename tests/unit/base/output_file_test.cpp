#include "base/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>

namespace fade {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr uid_t kAnother = 65'534;

// A folder that all may write to, as /tmp.
class OutputFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "fade_output_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    ::chmod(folder.c_str(), 01777);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string at(const std::string& name) const { return folder + "/" + name; }
  void make(const std::string& name, const std::string& text = "old") const { std::ofstream(at(name)) << text; }
  std::string read(const std::string& name) const {
    std::ifstream in(at(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void link(const std::string& target, const std::string& name) const { fs::create_symlink(target, at(name)); }
  // False where only root can do it.
  bool give_away(const std::string& name) const { return ::lchown(at(name).c_str(), kAnother, kAnother) == 0; }
  Result<Fd> open(const std::string& name, OutputMode mode = OutputMode::Overwrite) const {
    return open_output_file(at(name), mode, 0600);
  }
  void write(const std::string& name, OutputMode mode, std::string_view text) const {
    const Result<Fd> fd = open(name, mode);
    ASSERT_TRUE(fd) << fd.error().text();
    ASSERT_EQ(::write(fd->get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void expect_refused(const std::string& name, const std::string& cause) const {
    for (const OutputMode mode : {OutputMode::New, OutputMode::Overwrite, OutputMode::Append}) {
      const Result<Fd> fd = open(name, mode);
      ASSERT_FALSE(fd);
      EXPECT_EQ(fd.error().code, EPERM);
      EXPECT_THAT(fd.error().cause, HasSubstr(cause));
    }
    const Result<void> checked = check_output_file(at(name));
    ASSERT_FALSE(checked);
    EXPECT_THAT(checked.error().cause, HasSubstr(cause));
  }

  std::string folder;
};

TEST_F(OutputFile, IsMadeOverwrittenAndAddedTo) {
  write("f", OutputMode::New, "one");
  EXPECT_EQ(read("f"), "one");
  struct stat about {};
  ::stat(at("f").c_str(), &about);
  EXPECT_EQ(about.st_mode & 07777, 0600u);
  write("f", OutputMode::Append, "two");
  EXPECT_EQ(read("f"), "onetwo");
  write("f", OutputMode::Overwrite, "3");
  EXPECT_EQ(read("f"), "3");
  const Result<Fd> again = open("f", OutputMode::New);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, EEXIST);
  EXPECT_EQ(read("f"), "3");
}

TEST_F(OutputFile, OwnLinksAreFollowed) {
  fs::create_directory(at("inner"));
  link("inner", "folder");
  link(at("folder/../folder/file"), "absolute");
  link("absolute", "relative");
  write("relative", OutputMode::New, "new");
  EXPECT_EQ(read("inner/file"), "new");
  EXPECT_TRUE(fs::is_symlink(at("relative")));
  EXPECT_EQ(open("relative", OutputMode::New).error().code, EEXIST);
  EXPECT_TRUE(check_output_file(at("relative")));
}

TEST_F(OutputFile, LinksOfAnotherUserAreNotFollowed) {
  make("victim");
  fs::create_directory(at("inner"));
  link("victim", "link");
  link("missing", "dangling");
  link("inner", "folder");
  if (!give_away("link") || !give_away("dangling") || !give_away("folder")) GTEST_SKIP() << "needs root";
  expect_refused("link", "'link' is a symbolic link of another user");
  expect_refused("dangling", "'dangling' is a symbolic link of another user");
  expect_refused("folder/file", "'folder' is a symbolic link of another user");
  link("link", "own");
  expect_refused("own", "'link' is a symbolic link of another user");
  EXPECT_EQ(read("victim"), "old");
  EXPECT_FALSE(fs::exists(at("missing")));
  EXPECT_FALSE(fs::exists(at("inner/file")));
}

TEST_F(OutputFile, LinksThatLeadNowhereOrInACircleAreErrors) {
  link("b", "a");
  link("a", "b");
  EXPECT_EQ(open("a").error().code, ELOOP);
  EXPECT_EQ(open("missing/file").error().code, ENOENT);
  make("file");
  EXPECT_EQ(open("file/below").error().code, ENOTDIR);
  EXPECT_EQ(open("").error().code, EISDIR);
  EXPECT_EQ(open_output_file("", OutputMode::New, 0600).error().code, ENOENT);
  EXPECT_FALSE(open("../" + fs::path(folder).filename().string()));
}

TEST_F(OutputFile, FilesThatAnotherUserPlantedAreNotWritten) {
  make("planted");
  ::chmod(at("planted").c_str(), 0666);
  if (!give_away("planted")) GTEST_SKIP() << "needs root";
  expect_refused("planted", "file of another user");
  ::chmod(folder.c_str(), 0755);
  EXPECT_TRUE(open("planted", OutputMode::Append)) << "here only the folder's owner can have put it";
}

TEST_F(OutputFile, AFifoOfAnotherUserIsNotOpened) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0666), 0);
  if (!give_away("fifo")) GTEST_SKIP() << "needs root";
  expect_refused("fifo", "FIFO of another user");  // and nothing waits for a reader
}

TEST_F(OutputFile, AnOwnFifoIsWrittenTo) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  auto reader = std::async(std::launch::async, [&] { return read("fifo"); });
  write("fifo", OutputMode::New, "through");
  EXPECT_EQ(reader.get(), "through");
}

TEST_F(OutputFile, DevicesOfRootNeedNoForce) {
  for (const char* name : {"/dev/null", "/dev/full"})
    for (const OutputMode mode : {OutputMode::New, OutputMode::Overwrite, OutputMode::Append})
      EXPECT_TRUE(open_output_file(name, mode, 0600)) << name;
}

TEST_F(OutputFile, DevStdoutIsWhatStandardOutputIs) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const Fd reader(pipe[0]);
  Fd writer(pipe[1]);
  const std::string name = "/proc/self/fd/" + std::to_string(writer.get());
  link(name, "stdout");
  write("stdout", OutputMode::New, "said");
  writer.close();
  std::array<char, 16> text{};
  EXPECT_EQ(::read(reader.get(), text.data(), text.size()), 4);
  EXPECT_STREQ(text.data(), "said");
}

}  // namespace
}  // namespace fade
