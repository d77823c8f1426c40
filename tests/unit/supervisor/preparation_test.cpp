#include "supervisor/preparation.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace fade {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct FindProgram : ::testing::Test {
  std::filesystem::path folder = [] {
    std::string name = ::testing::TempDir() + "fade-find-XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
  std::string path_before = ::getenv("PATH");

  void SetUp() override {
    for (const char* name : {"a/tool", "b/tool", "b/only", "a/plain"}) put(name, 0755);
    put("a/plain", 0644);
    std::filesystem::create_directories(folder / "a/folder");
    ::setenv("PATH", (in("a") + ":" + in("b")).c_str(), 1);
  }
  void TearDown() override {
    ::setenv("PATH", path_before.c_str(), 1);
    std::filesystem::remove_all(folder);
  }
  void put(const std::string& name, mode_t mode) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << "#!/bin/sh\n";
    ::chmod(in(name).c_str(), mode);
  }
  std::string in(const std::string& name) const { return (folder / name).string(); }
  int code(const std::string& name, const std::string& directory = {}) const {
    const auto found = find_program(name, directory);
    return found ? 0 : found.error().code;
  }
};

TEST_F(FindProgram, FirstInPath) {
  EXPECT_EQ(find_program("tool", {}), in("a/tool"));
  EXPECT_EQ(find_program("only", {}), in("b/only"));
  EXPECT_EQ(code("nothing"), ENOENT);
}

TEST_F(FindProgram, WhatCannotRunIsPassedOverButRemembered) {
  EXPECT_EQ(code("plain"), EACCES);
  EXPECT_EQ(code("folder"), EACCES);
  put("b/plain", 0755);
  EXPECT_EQ(find_program("plain", {}), in("b/plain"));
  EXPECT_THAT(find_program(in("a/plain"), {}).error().fix, HasSubstr("chmod +x"));
}

TEST_F(FindProgram, WithASlashPathDoesNotMatter) {
  EXPECT_EQ(find_program(in("b/tool"), {}), in("b/tool"));
  EXPECT_EQ(find_program("./tool", in("a")), in("a") + "/./tool");
  EXPECT_EQ(find_program(in("b/tool"), "/usr"), in("b/tool"));
  EXPECT_EQ(code("./nothing", in("a")), ENOENT);
  EXPECT_EQ(code(in("a/folder")), EACCES);
  EXPECT_EQ(code(in("a/tool/x")), EACCES);
}

TEST_F(FindProgram, EmptyNameIsNoProgram) { EXPECT_EQ(code(""), ENOENT); }

// execvp(3) looks after the change of directory.
TEST_F(FindProgram, FoldersOfPathThatAreRelativeCountFromTheDirectory) {
  ::setenv("PATH", "b", 1);
  EXPECT_EQ(code("only"), ENOENT);
  EXPECT_EQ(code("only", folder.string()), 0);
  ::setenv("PATH", "", 1);
  EXPECT_EQ(code("only", in("b")), 0);
}

TEST_F(FindProgram, WithoutPathTheUsualFolders) {
  ::unsetenv("PATH");
  EXPECT_EQ(code("sh"), 0);
  EXPECT_EQ(code("tool"), ENOENT);
}

TEST(ChangedEnvironment, SetsReplacesAndTakesAway) {
  std::string a = "A=1", b = "B=2", ab = "AB=3";
  char* ours[] = {a.data(), b.data(), ab.data(), nullptr};
  EXPECT_THAT(changed_environment({}, ours), ElementsAre("A=1", "B=2", "AB=3"));
  EXPECT_THAT(changed_environment({"A=x=y", "C=", "B"}, ours), ElementsAre("AB=3", "A=x=y", "C="));
  EXPECT_THAT(changed_environment({"A=1", "A=2"}, ours), ElementsAre("B=2", "AB=3", "A=2"));
  EXPECT_THAT(changed_environment({"Z"}, ours), ElementsAre("A=1", "B=2", "AB=3"));
}

Result<SessionOptions> options_for(const RecordingOptions& options) {
  const auto chosen = choose_probes(options);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto rules = read_rules(options);
  if (!rules) return tl::unexpected(rules.error());
  return session_options(options, *chosen, *rules);
}

TEST(SessionOptionsOfARun, ProbeRequestsHaveTwoParts) {
  const auto made = options_for({.probe_symbols = {"libfoo.so*:ns::function(int)"}});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->wishes.symbols.size(), 1u);
  EXPECT_EQ(made->wishes.symbols[0].library, "libfoo.so*");
  EXPECT_EQ(made->wishes.symbols[0].function, "ns::function(int)");
  for (const char* wrong : {"", "nocolon", ":function", "library:"}) {
    const auto refused = options_for({.probe_symbols = {wrong}});
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, EINVAL);
  }
}

TEST(SessionOptionsOfARun, WhatCannotBeUnderstoodIsAnErrorOfTheOptions) {
  const RecordingOptions wrong[] = {{.events = {"no-such-group"}},      {.include = {"("}},
                                    {.probe_files = {"/no/such/file"}}, {.set_rules = {"nonsense"}},
                                    {.rule_files = {"/no/such/file"}},  {.child_filter = "("}};
  for (const RecordingOptions& options : wrong) {
    const auto made = options_for(options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, EINVAL) << made.error().text();
  }
}

TEST(SessionOptionsOfARun, RulesArmWhatTellsTheirPropertiesThoughNotSelected) {
  const auto armed = [](const RecordingOptions& options, const std::string& symbol) {
    const auto made = options_for(options);
    return made && std::ranges::any_of(made->wishes.probes, [&](const auto& probe) { return probe->symbol == symbol; });
  };
  const RecordingOptions without{.include = {"^hipMalloc$"}};
  RecordingOptions with = without;
  with.set_rules = {"device.0.multiProcessorCount=72"};
  EXPECT_TRUE(armed(without, "hipMalloc"));
  EXPECT_FALSE(armed(without, "hipGetDevicePropertiesR0600"));
  EXPECT_TRUE(armed(with, "hipGetDevicePropertiesR0600"));
  EXPECT_TRUE(armed(with, "hipSetDevice"));
}

}  // namespace
}  // namespace fade
