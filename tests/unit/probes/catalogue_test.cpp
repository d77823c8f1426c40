#include "probes/catalogue.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "probes/probe_fixtures.hpp"
#include "probes/selection.hpp"

namespace fade::probes {
namespace {

using testing::HasSubstr;

std::size_t count(const Catalogue& catalogue, std::string_view symbol) {
  return static_cast<std::size_t>(
      std::ranges::count_if(catalogue.all(), [&](const ProbePtr& p) { return p->symbol == symbol; }));
}

TEST(Catalogue, AUsersProbeReplacesTheBuiltInOne) {
  Catalogue catalogue;
  const std::size_t before = catalogue.all().size();
  ASSERT_TRUE(catalogue.add_text("api hip\ngroup mine\nhipError_t hipMalloc(out void **p @address, size_t n @bytes)",
                                 "my.probes"));
  EXPECT_EQ(catalogue.all().size(), before);
  ASSERT_EQ(count(catalogue, "hipMalloc"), 1U);
  EXPECT_EQ(probe_called("hipMalloc", catalogue.all())->group, "mine");
}

TEST(Catalogue, OneSymbolMayStandInSeveralLibraries) {
  Catalogue catalogue;
  ASSERT_TRUE(
      catalogue.add_text("library \"liba.so\"\nint go(int a)\nlibrary \"libb.so\"\nint go(long a)", "my.probes"));
  EXPECT_EQ(count(catalogue, "go"), 2U);
  EXPECT_EQ(probe_called("go", catalogue.all())->library, "libb.so");
}

TEST(Catalogue, AFileWithErrorsChangesNothing) {
  const std::string path = testing::TempDir() + "/fade_catalogue_test.probes";
  std::ofstream(path) << "library \"x.so\"\nint good(int a)\nint bad(nothing a)\n";
  Catalogue catalogue;
  const auto added = catalogue.add_file(path);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().cause, HasSubstr(path + ":3:9: expected a declared type, found 'nothing'"));
  EXPECT_EQ(count(catalogue, "good"), 0U);
  std::filesystem::remove(path);
}

TEST(Catalogue, AMissingFileIsNamed) {
  const auto added = Catalogue().add_file("/nonexistent/my.probes");
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(), testing::AllOf(HasSubstr("/nonexistent/my.probes"), HasSubstr("No such file")));
}

TEST(Catalogue, AFileWithoutEndIsRefused) {
  const auto added = Catalogue().add_file("/dev/zero");
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().text(), testing::AllOf(HasSubstr("/dev/zero"), HasSubstr("more than 1 MiB")));
}

TEST(Catalogue, LaterFilesKnowTheTypesOfEarlierOnes) {
  Catalogue catalogue;
  ASSERT_TRUE(catalogue.add_text("enum level { LOW = 1 }", "a.probes"));
  ASSERT_TRUE(catalogue.add_text("library \"x\"\nvoid f(level l)", "b.probes"));
  EXPECT_EQ(types_of(*probe_called("f", catalogue.all())).enum_name("level", 1, kNewest), "LOW");
}

class SelectionTest : public testing::Test {
 protected:
  bool on(const char* symbol, std::string_view events, std::vector<std::string> include = {},
          std::vector<std::string> exclude = {}) {
    const auto selection = Selection::make(events, include, exclude, catalogue_.all());
    EXPECT_TRUE(selection) << selection.error().text();
    return selection && (*selection)(*probe_called(symbol, catalogue_.all()));
  }
  std::string callers(const char* symbol, std::string_view events) {
    const auto selection = Selection::make(events, {}, {}, catalogue_.all());
    EXPECT_TRUE(selection) << selection.error().text();
    return selection ? selection->callers_of(*probe_called(symbol, catalogue_.all())) : "";
  }
  Error error(std::string_view events, std::vector<std::string> include = {}) {
    const auto selection = Selection::make(events, include, {}, catalogue_.all());
    EXPECT_FALSE(selection);
    return selection ? Error{} : selection.error();
  }
  Catalogue catalogue_;
};

TEST_F(SelectionTest, TheDefaultIsEverythingThatIsNotHot) {
  EXPECT_TRUE(on("hipMalloc", ""));
  EXPECT_TRUE(on("hiprtcCompileProgram", ""));
  EXPECT_FALSE(on("hipGetDevice", ""));
  EXPECT_FALSE(on("hipGetDevice", "all"));
  EXPECT_TRUE(Selection()(*probe_called("hipMalloc", catalogue_.all())));
  EXPECT_FALSE(Selection()(*probe_called("hipGetDevice", catalogue_.all())));
}

TEST_F(SelectionTest, GroupsNamesAndPatterns) {
  EXPECT_TRUE(on("hipMalloc", "mem,kernel"));
  EXPECT_TRUE(on("hipLaunchKernel", "mem,kernel"));
  EXPECT_FALSE(on("hipMemcpy", "mem,kernel"));
  EXPECT_TRUE(on("hipMemcpy", "trace=hipMemcpy"));
  EXPECT_TRUE(on("hipMemcpyAsync", "hipMemcpy*"));
  EXPECT_FALSE(on("hipMemcpyAsync", "hipMemcpy"));
  EXPECT_TRUE(on("hipMalloc", "memory"));
  EXPECT_TRUE(on("hipMalloc", "hip"));
  EXPECT_FALSE(on("hiprtcCompileProgram", "hip"));
}

TEST_F(SelectionTest, CallersOfAFunction) {
  EXPECT_EQ(callers("hipMalloc", "all"), "");
  EXPECT_EQ(callers("hipMalloc", "all@libtorch_hip*"), "libtorch_hip*");
  EXPECT_EQ(callers("hipMalloc", "all@libtorch_hip*,mem"), "") << "the last word counts";
  EXPECT_EQ(callers("hipMemcpy", "all@libtorch_hip*,mem"), "libtorch_hip*");
  EXPECT_EQ(callers("hipMalloc", "copy@libx*,mem@!liby*"), "!liby*");
  EXPECT_TRUE(on("hipMalloc", "mem@libx*"));
  EXPECT_FALSE(on("hipMemcpy", "mem@libx*"));
  for (const char* bad : {"all@", "all@!", "all@/opt/lib*", "all,-mem@libx*", "nothing@libx*"})
    EXPECT_FALSE(error(bad).message.empty()) << bad;
}

TEST_F(SelectionTest, WordsAreTakenFromLeftToRight) {
  EXPECT_FALSE(on("hipDeviceSynchronize", "all,-sync"));
  EXPECT_TRUE(on("hipMalloc", "-sync"));
  EXPECT_FALSE(on("hipDeviceSynchronize", "-sync"));
  EXPECT_TRUE(on("hipDeviceSynchronize", "-sync,hipDeviceSynchronize"));
}

TEST_F(SelectionTest, HotFunctionsNeedTheirNameOrTheirGroup) {
  EXPECT_TRUE(on("hipGetDevice", "hipGetDevice"));
  EXPECT_TRUE(on("hipGetDevice", "all,device"));
  EXPECT_TRUE(on("hipGetDevice", "all,hot"));
  EXPECT_TRUE(on("hipGetDevice", "", {"^hipGetDevice$"}));
  EXPECT_FALSE(on("__hipPushCallConfiguration", "kernel"));
  EXPECT_TRUE(on("__hipRegisterFunction", "register"));
}

TEST_F(SelectionTest, PatternsNarrow) {
  EXPECT_TRUE(on("hipMemcpyAsync", "", {"Async$"}));
  EXPECT_FALSE(on("hipMemcpy", "", {"Async$"}));
  EXPECT_FALSE(on("hipMemcpyAsync", "", {}, {"Async$"}));
  EXPECT_FALSE(on("hipMemcpyAsync", "mem", {"Async$"}));
}

TEST_F(SelectionTest, UnknownWordsSuggestTheNearOne) {
  EXPECT_EQ(error("kernal").fix, "did you mean 'kernel'?");
  EXPECT_EQ(error("hipMallok").fix, "did you mean 'hipMalloc'?");
  EXPECT_THAT(error("nothing_like_it").cause, HasSubstr("copy, device"));
  EXPECT_THAT(error("", {"(["}).message, HasSubstr("no regular expression"));
}

}  // namespace
}  // namespace fade::probes
