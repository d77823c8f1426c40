#include "session/named_code.hpp"

#include <gmock/gmock.h>

#include <map>

#include "probes/syntax/parser.hpp"
#include "probes/types.hpp"

namespace fade {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct NamedCodeTest : ::testing::Test {
  std::map<std::string, probes::ProbePtr> probes;

  NamedCodeTest() {
    auto file = probes::parse(
        "api cuda\nenum code { ok = 0 bad = 1 }\nsuccess code 0\nhandle obj\n"
        "code first(obj a, size_t n)\ncode second(obj b, size_t m)\ncode third(const char *text)\nvoid fourth(obj a, "
        "size_t n)\ncode fifth(obj a, size_t n) @ok(3)\n",
        "test.probes", probes::basic_types());
    for (const auto& error : file.errors) ADD_FAILURE() << error.at.line << ": " << error.message;
    for (const auto& p : file.probes) probes[p.symbol] = std::make_shared<const probes::Probe>(p);
  }
  std::vector<NamedCode> code(std::vector<elf::DynamicSymbol> symbols) const {
    return code_of(std::move(symbols), [this](const std::string& name) {
      const auto found = probes.find(name);
      return found == probes.end() ? nullptr : found->second;
    });
  }
  static elf::DynamicSymbol at(std::uint64_t offset, std::string name, bool ifunc = false) {
    return {.name = std::move(name), .offset = offset, .size = 8, .function = true, .ifunc = ifunc};
  }
};

TEST_F(NamedCodeTest, EachAddressHasOneEntryWithAllItsNames) {
  const auto found = code({at(64, "third"), at(32, "second"), at(32, "first"), at(32, "unknown"), at(96, "unknown2")});
  ASSERT_EQ(found.size(), 2U) << "nobody wants what stands at 96";
  EXPECT_EQ(found[0].offset, 32U);
  EXPECT_EQ(found[0].probe, probes.at("first")) << "same arguments: the first in the alphabet speaks for both";
  EXPECT_THAT(found[0].other_names, ElementsAre("second", "unknown"));
  EXPECT_EQ(found[1].probe, probes.at("third"));
  EXPECT_THAT(found[1].other_names, IsEmpty());
}

TEST_F(NamedCodeTest, NamesThatDisagreeAboutArgumentsShowRegistersOnly) {
  const auto found = code({at(32, "third"), at(32, "first")});
  ASSERT_EQ(found.size(), 1U);
  const probes::Probe& probe = *found[0].probe;
  EXPECT_EQ(probe.symbol, "first");
  EXPECT_FALSE(probe.known_signature);
  EXPECT_THAT(probe.parameters, IsEmpty());
  EXPECT_TRUE(probe.failed(1)) << "about the result they agree";
  EXPECT_EQ(probe.result.name, "code");
}

TEST_F(NamedCodeTest, AResultThatIsFineForOneNameIsNoFailure) {
  const auto found = code({at(32, "first"), at(32, "fifth")});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].probe->failed(3));
  EXPECT_TRUE(found[0].probe->failed(1));
}

TEST_F(NamedCodeTest, NamesThatDisagreeAboutTheResultHaveNoFailures) {
  const auto found = code({at(32, "fourth"), at(32, "first")});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].probe->failed(1));
}

TEST_F(NamedCodeTest, AResolverIsNotTheFunctionAtItsAddress) {
  const auto found = code({at(32, "first"), at(32, "second", true)});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found[0].ifunc);
  EXPECT_TRUE(found[1].ifunc);
  EXPECT_EQ(found[1].probe->symbol, "second");
}

TEST_F(NamedCodeTest, ATargetWithTooManyNamesIsCut) {
  std::vector<elf::DynamicSymbol> symbols = {at(32, "first")};
  for (int i = 0; i < 5000; ++i) symbols.push_back(at(32, "x" + std::to_string(i)));
  const auto found = code(std::move(symbols));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].other_names.size(), 2000U);
}

}  // namespace
}  // namespace fade
