#include "cli/table/command_line.hpp"

#include <gtest/gtest.h>

#include "cli/table/text.hpp"

namespace fade::table {
namespace {

TEST(CommandLine, LosesTheFoldersOfProgramAndScript) {
  EXPECT_EQ(short_command("/root/.pyenv/versions/3.11/bin/python3 /home/ada/deep/train.py --data /data/set --epochs 3"),
            "python3 train.py --data /data/set --epochs 3");
  EXPECT_EQ(short_command("python3 -u /x/train.py"), "python3 -u train.py");
  EXPECT_EQ(short_command("python3 -m torch.distributed.run /x/train.py"),
            "python3 -m torch.distributed.run /x/train.py");
  EXPECT_EQ(short_command("/usr/bin/uname -p"), "uname -p");
  EXPECT_EQ(short_command(""), "");
}

TEST(CommandLine, IsCutAtItsEnd) {
  EXPECT_EQ(shorten_end("python3 train.py --epochs 3", 17, true), "python3 train.py…");
  EXPECT_EQ(shorten_end("python3 train.py --epochs 3", 19, false), "python3 train.py...");
  EXPECT_EQ(shorten_end("short", 5, true), "short");
}

}  // namespace
}  // namespace fade::table
