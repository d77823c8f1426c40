#include "base/user_code.hpp"

#include <gtest/gtest.h>

namespace fade {
namespace {

TEST(UserCode, FilesOfPackagesAndOfPythonAreNotTheUsers) {
  for (const char* file :
       {"/home/me/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py",
        "/usr/lib/python3/dist-packages/numpy/core/a.py", "/usr/lib/python3.11/threading.py",
        "/usr/lib64/python3.9/json/decoder.py", "/usr/lib/python311.zip/os.py", "/usr/local/bin/torchrun",
        "<frozen importlib._bootstrap>", "<eval_with_key>.3", "<__array_function__ internals>", ""})
    EXPECT_FALSE(is_user_code(file)) << file;
}

TEST(UserCode, OtherFilesAre) {
  for (const char* file : {"/home/me/train.py", "train.py", "/home/me/bin/train.py", "<stdin>", "<string>",
                           "/home/me/lib/pythonic/a.py", "/tmp/ipykernel_12/1.py", "/data/archive.zip/train.py"})
    EXPECT_TRUE(is_user_code(file)) << file;
}

TEST(UserCode, NamesOfFilesAreShortAndTellTheirPackage) {
  EXPECT_EQ(short_file_name("/home/me/train.py", "/home/me"), "train.py");
  EXPECT_EQ(short_file_name("/home/me/lib/data.py", "/home/me"), "lib/data.py");
  EXPECT_EQ(short_file_name("/home/me/train.py", "/home/m"), "train.py");
  EXPECT_EQ(short_file_name("/srv/job/train.py", "/home/me"), "train.py");
  EXPECT_EQ(short_file_name("/srv/job/nets/__init__.py", "/home/me"), "nets/__init__.py");
  EXPECT_EQ(short_file_name("/x/lib/python3.11/site-packages/torch/cuda/__init__.py", "/x"), "torch/cuda/__init__.py");
  EXPECT_EQ(short_file_name("/usr/lib/python3.11/threading.py", ""), "python3.11/threading.py");
  EXPECT_EQ(short_file_name("__init__.py", ""), "__init__.py");
  EXPECT_EQ(short_file_name("", "/home/me"), "");
}

}  // namespace
}  // namespace fade
