#include "elf/search_path.hpp"

#include <gmock/gmock.h>

namespace fade::elf {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Asker kProgram{"/app/bin/train", {"libtorch_hip.so", "libc.so.6"}, "", ""};
const Asker kTorch{"/app/lib/libtorch_hip.so", {"libamdhip64.so"}, "$ORIGIN:/elsewhere/", ""};

Origin of(std::string_view opened, const Asker& program, const Asker& library, const LoaderVariables& variables = {},
          bool other_space = false) {
  const Asker* const before[] = {&program, &library};
  return origin_of(opened, before, variables, other_space);
}

TEST(SearchPath, SplitsAsTheLoaderDoes) {
  EXPECT_THAT(folders_of("/a:/b/;/c//", ""), ElementsAre("/a", "/b", "/c"));
  EXPECT_THAT(folders_of("$ORIGIN/../lib:${ORIGIN}", "/x/bin"), ElementsAre("/x/bin/../lib", "/x/bin"));
  EXPECT_THAT(folders_of("/a::", ""), ElementsAre("/a", ".", "."));
  EXPECT_THAT(folders_of("", "/x"), IsEmpty());
  EXPECT_THAT(folders_of("/", ""), ElementsAre("/"));
}

TEST(SearchPath, RpathComesBeforeTheVariable) {
  const auto origin = of("/app/lib/libamdhip64.so", kProgram, kTorch, {.library_path = "/app/lib:/opt/rocm/lib"});
  EXPECT_EQ(origin.rule, FoundBy::Rpath);
  EXPECT_EQ(origin.asker, &kTorch);
  EXPECT_EQ(of("/elsewhere/libamdhip64.so", kProgram, kTorch).rule, FoundBy::Rpath);
  EXPECT_EQ(of("/opt/rocm/lib/libamdhip64.so", kProgram, kTorch, {.library_path = "/app/lib:/opt/rocm/lib"}).rule,
            FoundBy::LibraryPath);
}

TEST(SearchPath, RunpathComesAfterTheVariableAndEndsRpath) {
  Asker torch = kTorch;
  torch.runpath = "$ORIGIN";
  EXPECT_EQ(of("/app/lib/libamdhip64.so", kProgram, torch, {.library_path = "/app/lib"}).rule, FoundBy::LibraryPath);
  EXPECT_EQ(of("/app/lib/libamdhip64.so", kProgram, torch).rule, FoundBy::Runpath);
  EXPECT_EQ(of("/elsewhere/libamdhip64.so", kProgram, torch).rule, FoundBy::System) << "its RPATH no longer counts";
}

TEST(SearchPath, RpathOfTheProgramCountsForItsLibraries) {
  Asker program = kProgram, torch = kTorch;
  program.rpath = "$ORIGIN/../rocm";
  torch.rpath.clear();
  const auto origin = of("/app/bin/../rocm/libamdhip64.so", program, torch);
  EXPECT_EQ(origin.rule, FoundBy::Rpath);
  EXPECT_EQ(origin.asker, &program);
}

TEST(SearchPath, WhatTheProgramOpensItselfAndWhatIsPutBeforeItAreTold) {
  EXPECT_EQ(of("/plugins/libx.so", kProgram, kTorch).rule, FoundBy::Dlopen);
  EXPECT_EQ(of("/a/libx.so", kProgram, kTorch, {.library_path = "/a"}).rule, FoundBy::LibraryPath);
  EXPECT_EQ(of("/a/libshim.so", kProgram, kTorch, {.preload = "/b/y.so /a/libshim.so"}).rule, FoundBy::Preload);
  EXPECT_EQ(of("/usr/lib/libshim.so", kProgram, kTorch, {.preload = "libshim.so"}).rule, FoundBy::Preload);
  EXPECT_EQ(of("/z/zluda_ld", kProgram, kTorch, {.audit = "/z/zluda_ld"}, true).rule, FoundBy::Audit);
  EXPECT_EQ(of("/usr/lib/libtorch_hip.so", kProgram, kTorch).rule, FoundBy::System);
}

TEST(SearchPath, KnowsPathsInNeededAndFoldersForNewProcessors) {
  Asker torch = kTorch;
  torch.needed = {"/fixed/libamdhip64.so"};
  EXPECT_EQ(of("/fixed/libamdhip64.so", kProgram, torch).rule, FoundBy::Path);
  EXPECT_EQ(of("/l/glibc-hwcaps/x86-64-v3/libtorch_hip.so", kProgram, kTorch, {.library_path = "/l"}).rule,
            FoundBy::LibraryPath);
  EXPECT_EQ(origin_of("", {}, {}, false).rule, FoundBy::Dlopen);
}

TEST(SearchPath, EveryRuleHasAWord) {
  EXPECT_EQ(word_for(FoundBy::Preload), "LD_PRELOAD");
  EXPECT_EQ(word_for(FoundBy::Rpath), "RPATH");
  EXPECT_EQ(word_for(FoundBy::Dlopen), "dlopen");
}

}  // namespace
}  // namespace fade::elf
