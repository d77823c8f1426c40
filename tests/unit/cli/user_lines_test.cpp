#include "cli/query/user_lines.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/user_code.hpp"
#include "cli/query/recording.hpp"
#include "cli/query_seed.hpp"
#include "cli/table/formats.hpp"

namespace fade::query {
namespace {

using ::testing::HasSubstr;

// Stack 1: train.py, stack 2: a wrapper of the user's own around it, called by train.py.
class UserLines : public ::testing::Test {
 protected:
  std::string path(const std::string& more = {}) {
    const std::string made = make_recording(directory_, "run.db", false);
    execute(made,
            "INSERT INTO session_ (id, kind, start_ns, boot_ns, cwd, clean) VALUES (1, 'run', 1, 1, '/home/ada', 1);"
            "INSERT INTO process_ (id, session, pid, ts) VALUES (1, 1, 100, 0);"
            "INSERT INTO frame_ (id, process, kind, name, file, line, address) VALUES (1, 1, 1, '<module>', "
            "'/home/ada/src/train.py', 8, 0),"
            "(2, 1, 1, 'traced', '/home/ada/tools/wrap.py', 3, 0);"
            "INSERT INTO stack_ (id, parent, frame) VALUES (1, NULL, 1), (2, 1, 2);" +
                more);
    return made;
  }
  static std::string line(Recording& recording, int stack) {
    auto found = recording.database.one("SELECT user_line FROM user_lines WHERE stack = " + std::to_string(stack));
    return found ? table::raw_text(*found) : found.error().text();
  }
  TemporaryDirectory directory_;
};

TEST_F(UserLines, AreRelativeToTheFolderOfTheRun) {
  auto recording = open_recording(path());
  ASSERT_TRUE(recording) << recording.error().text();
  EXPECT_EQ(line(*recording, 1), "src/train.py:8 <module>");
  EXPECT_EQ(line(*recording, 2), "tools/wrap.py:3 traced");
}

TEST_F(UserLines, SkipFramesThatAreSaidToBeWrappers) {
  auto recording = open_recording(path());
  ASSERT_TRUE(recording);
  for (const char* skip : {"/tools/", "^traced$", "wrap.py$|it's"}) {
    ASSERT_TRUE(use_user_lines(recording->database, skip));
    EXPECT_EQ(line(*recording, 2), "src/train.py:8 <module>") << skip;
  }
  ASSERT_TRUE(use_user_lines(recording->database, ".*"));
  EXPECT_EQ(line(*recording, 2), "tools/wrap.py:3 traced") << "the innermost where all are wrappers";
}

TEST_F(UserLines, RefuseWhatIsNoRegularExpression) {
  auto recording = open_recording(path());
  ASSERT_TRUE(recording);
  const auto used = use_user_lines(recording->database, "(");
  ASSERT_FALSE(used);
  EXPECT_THAT(used.error().message, HasSubstr("--skip-frames"));
}

TEST_F(UserLines, AreToldOfRecordingsThatHaveNoSuchView) {
  auto recording = open_recording(path("DROP VIEW user_lines; DROP VIEW user_frames;"));
  ASSERT_TRUE(recording);
  EXPECT_EQ(line(*recording, 2), "tools/wrap.py:3 traced");
}

// The number of temporary views. A view of the file serves as it is if it is that of this fade.
std::string temporary_views(Recording& recording) {
  return table::raw_text(recording.database.one("SELECT count(*) FROM temp.sqlite_master WHERE type = 'view'").value());
}

TEST_F(UserLines, AreTheFilesOwnIfTheseAreOfThisFade) {
  auto recording = open_recording(path());
  ASSERT_TRUE(recording);
  EXPECT_EQ(temporary_views(*recording), "0");
  ASSERT_TRUE(use_user_lines(recording->database, "/tools/"));
  EXPECT_EQ(temporary_views(*recording), "6");
}

// The file's own user_lines reads the file's own frame_places.
TEST_F(UserLines, AreMadeAgainAsAWholeIfOneViewDiffers) {
  auto recording = open_recording(path("DROP VIEW frame_places; CREATE VIEW frame_places AS SELECT 1 AS frame;"));
  ASSERT_TRUE(recording);
  EXPECT_EQ(temporary_views(*recording), "6");
  EXPECT_EQ(line(*recording, 2), "tools/wrap.py:3 traced");
}

// fade-run's own lines (base/user_code.hpp) and the reports name files alike.
TEST_F(UserLines, FollowTheSameRuleAsTheLinesOfFadeRun) {
  const std::vector<std::string> files{"/home/ada/train.py",
                                       "/home/ada/src/a.py",
                                       "/srv/job/train.py",
                                       "/srv/job/nets/__init__.py",
                                       "/srv/nets/__main__.py",
                                       "train.py",
                                       "__init__.py",
                                       "/home/ada/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py",
                                       "/usr/lib/python3/dist-packages/numpy/core/a.py",
                                       "/usr/lib/python3.11/threading.py",
                                       "/usr/lib64/python3.9/json/decoder.py",
                                       "/usr/lib/python311.zip/os.py",
                                       "/usr/local/bin/torchrun",
                                       "/home/ada/bin/train.py",
                                       "/home/ada/lib/pythonic/a.py",
                                       "/data/archive.zip/train.py",
                                       "<frozen importlib._bootstrap>",
                                       "<eval_with_key>.3",
                                       "<__array_function__ internals>",
                                       "<stdin>",
                                       "<string>"};
  std::string frames;
  for (std::size_t i = 0; i < files.size(); ++i)
    frames += fmt::format(
        "INSERT INTO frame_ (id, process, kind, name, file, line, address) VALUES ({}, 1, 1, 'f', '{}', 1, 0);", 10 + i,
        files[i]);
  auto recording = open_recording(path(frames));
  ASSERT_TRUE(recording) << recording.error().text();
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto column = [&](const char* name) {
      auto found = recording->database.one(fmt::format("SELECT {} FROM frame_places WHERE frame = {}", name, 10 + i));
      return found ? table::raw_text(*found) : found.error().text();
    };
    EXPECT_EQ(column("coalesce(wrapper, 0)"), is_user_code(files[i]) ? "0" : "1") << files[i];
    EXPECT_EQ(column("place"), short_file_name(files[i], "/home/ada")) << files[i];
  }
}

TEST_F(UserLines, LeaveTheFileAsItIs) {
  auto recording = open_recording(path());
  ASSERT_TRUE(recording);
  EXPECT_FALSE(recording->database.prepare("DROP VIEW temp.user_lines"));
  EXPECT_FALSE(recording->database.prepare("CREATE TEMP TABLE t (x)"));
}

}  // namespace
}  // namespace fade::query
