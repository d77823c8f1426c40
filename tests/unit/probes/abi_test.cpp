#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "probes/built_in.hpp"
#include "probes/catalogue.hpp"
#include "probes/listing.hpp"
#include "probes/location_text.hpp"
#include "probes/probe_fixtures.hpp"

namespace fade::probes {
namespace {

std::map<std::string, std::string> expected_locations() {
  std::map<std::string, std::string> out;
  std::ifstream in(std::filesystem::path(FADE_TEST_FOLDER) / "data/abi_locations.tsv");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const auto tab = line.find('\t');
    out[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return out;
}

TEST(Abi, EveryExportedFunctionHasAProbeThatFindsItsArguments) {
  const auto expected = expected_locations();
  ASSERT_EQ(expected.size(), 560U);
  std::map<std::string, ProbePtr> probes;
  for (const ProbePtr& probe : built_in_probes()) probes[probe->symbol] = probe;
  for (const auto& [symbol, locations] : expected) {
    ASSERT_TRUE(probes.contains(symbol)) << symbol;
    if (locations != "?") {
      EXPECT_EQ(locations_text(*probes[symbol]), locations) << symbol;
      EXPECT_TRUE(probes[symbol]->known_signature) << symbol;
    }
  }
}

TEST(Abi, TheListingShowsEveryExportedFunction) {
  std::map<std::string, ListedProbe> listed;
  for (ListedProbe& row : list_probes(Catalogue().all())) listed[row.symbol] = std::move(row);
  for (const auto& [symbol, locations] : expected_locations()) {
    ASSERT_TRUE(listed.contains(symbol)) << symbol;
    EXPECT_THAT(listed[symbol].prototype, testing::HasSubstr(symbol));
    EXPECT_FALSE(listed[symbol].group.empty()) << symbol;
  }
}

TEST(Abi, ADim3ThatDoesNotFitIntoTheRestOfTheRegistersGoesWhollyToTheStack) {
  const Probe probe = probe_of("void f(int a, int b, int c, int d, int e, dim3 size, int last)");
  EXPECT_EQ(locations_text(probe), "rdi:4;rsi:4;rdx:4;rcx:4;r8:4;[rsp+8]:12;r9:4");
  EXPECT_EQ(probe.stack_words, 2);
}

TEST(Abi, NumbersWithAPointUseTheirOwnRegisters) {
  const Probe probe = probe_of("double f(float a, int b, double c, bool d, short e, char g)");
  EXPECT_EQ(locations_text(probe), "xmm0:4;rdi:4;xmm1:8;rsi:1;rdx:2;rcx:1");
  EXPECT_EQ(probe.sse_words, 2);
  EXPECT_TRUE(probe.returns_sse());
}

TEST(Abi, TheNinthNumberWithAPointIsOnTheStack) {
  std::string text = "void f(";
  for (int i = 0; i < 9; ++i) text += fmt::format("{}double d{}", i ? ", " : "", i);
  const Probe probe = probe_of(text + ")");
  EXPECT_EQ(location_text(probe.parameters[8]), "[rsp+8]:8");
  EXPECT_EQ(probe.sse_words, 8);
  EXPECT_EQ(probe.stack_words, 1);
}

TEST(Abi, StructsGoByTheirFields) {
  EXPECT_EQ(locations_text(probe_of("struct p { float x; float y; }\nvoid f(p a, int b)")), "xmm0:8;rdi:4");
  EXPECT_EQ(locations_text(probe_of("struct q { double x; double y; }\nvoid f(q a, double b)")), "xmm0+xmm1:16;xmm2:8");
  EXPECT_EQ(locations_text(probe_of("struct r { float x; int y; }\nvoid f(r a)")), "rdi:8");
  EXPECT_EQ(locations_text(probe_of("struct s 16\nvoid f(s a)")), "rdi+rsi:16");
  EXPECT_EQ(locations_text(probe_of("struct t 17\nvoid f(t a, long b)")), "[rsp+8]:17;rdi:8");
}

TEST(Abi, AStructThatIsHalfIntegerHalfFloatIsRefused) {
  const ParsedFile file = parse_user("struct m { long a; double b; }\nvoid f(m x)");
  ASSERT_EQ(file.errors.size(), 1U);
  EXPECT_THAT(file.errors[0].message, testing::HasSubstr("half into an integer"));
}

TEST(Abi, AResultInMemoryTakesTheFirstRegister) {
  EXPECT_EQ(locations_text(probe_of("struct big { long a; long b; long c; }\nbig f(int x, int y)")), "rsi:4;rdx:4");
}

}  // namespace
}  // namespace fade::probes
