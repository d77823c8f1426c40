// Stacks added up, in the formats that other programs read and as a tree.
#include "cli/query/flame.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace fade::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<FoldedStack> kStacks{
    {"main;step;forward;hipMalloc", {600, 2, 4096}},
    {"main;step;forward;hipLaunchKernel", {200, 7, 0}},
    {"main;step;backward;hipFree", {195, 1, 0}},
    {"main;hipInit", {5, 1, 0}},
    {"main;step;idle", {0, 0, 0}},
};

TEST(Collapsed, IsALineForEachStackWithAWeight) {
  table::StringBytes out;
  ASSERT_TRUE(write_collapsed(kStacks, Weight::Time, out));
  EXPECT_EQ(out.text,
            "main;step;forward;hipMalloc 600\nmain;step;forward;hipLaunchKernel 200\nmain;step;backward;hipFree "
            "195\nmain;hipInit 5\n");
  out.text.clear();
  ASSERT_TRUE(write_collapsed(kStacks, Weight::Bytes, out));
  EXPECT_EQ(out.text, "main;step;forward;hipMalloc 4096\n");
}

TEST(Collapsed, HasNoControlCharacters) {
  table::StringBytes out;
  ASSERT_TRUE(write_collapsed({{"a\nb;\x1b[31m", {1, 1, 0}}}, Weight::Time, out));
  EXPECT_EQ(out.text, "a\\nb;\\x1b[31m 1\n");
}

// What https://www.speedscope.app/file-format-schema.json asks of a sampled profile.
TEST(Speedscope, HasAProfileForEachWeight) {
  table::StringBytes out;
  ASSERT_TRUE(write_speedscope(kStacks, Weight::Calls, "r\"1.db", out));
  const auto file = nlohmann::json::parse(out.text);
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_EQ(file["name"], "r\"1.db");
  const auto frames = file["shared"]["frames"];
  ASSERT_EQ(file["profiles"].size(), 3u);
  std::vector<std::string> units;
  for (const auto& profile : file["profiles"]) {
    units.push_back(profile["unit"]);
    EXPECT_EQ(profile["type"], "sampled");
    EXPECT_EQ(profile["startValue"], 0);
    ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
    std::int64_t sum = 0;
    for (const auto& weight : profile["weights"]) sum += weight.get<std::int64_t>();
    EXPECT_EQ(profile["endValue"], sum);
    for (const auto& sample : profile["samples"])
      for (const auto& frame : sample) ASSERT_LT(frame.get<std::size_t>(), frames.size());
  }
  EXPECT_THAT(units, ElementsAre("nanoseconds", "none", "bytes"));
  EXPECT_EQ(file["activeProfileIndex"], 1);
  const auto& first = file["profiles"][0]["samples"][0];
  std::vector<std::string> names;
  for (const auto& frame : first) names.push_back(frames[frame.get<std::size_t>()]["name"]);
  EXPECT_THAT(names, ElementsAre("main", "step", "forward", "hipMalloc"));
}

TEST(Speedscope, WithoutStacksIsStillJson) {
  table::StringBytes out;
  ASSERT_TRUE(write_speedscope({}, Weight::Time, "x", out));
  EXPECT_THAT(nlohmann::json::parse(out.text)["profiles"], IsEmpty());
}

std::vector<std::string> drawn(const FlameTree& tree) {
  std::vector<std::string> out;
  for (const FlameLine& line : tree.lines)
    out.push_back(line.indent + line.label + (line.same ? "" : " " + std::to_string(line.weight)) +
                  (line.leaf ? " *" : ""));
  return out;
}

TEST(FlameTree, IndentsOnlyWhereItBranches) {
  const FlameTree tree = flame_tree(kStacks, Weight::Time, 1, true);
  EXPECT_EQ(tree.total, 1000);
  EXPECT_EQ(tree.left_out, 1u);
  EXPECT_THAT(drawn(tree), ElementsAre("main 1000", "step 995", "├─ forward 800", "│  ├─ hipMalloc 600 *",
                                       "│  └─ hipLaunchKernel 200 *", "└─ backward 195", "   hipFree *"));
}

TEST(FlameTree, InAsciiWhereTheTerminalHasNoMore) {
  EXPECT_THAT(drawn(flame_tree({{"a;b", {1, 1, 0}}, {"a;c", {2, 1, 0}}}, Weight::Time, 0, false)),
              ElementsAre("a 3", "|- c 2 *", "`- b 1 *"));
}

TEST(FlameTree, AFunctionMayBeALeafAndCallOthers) {
  const FlameTree tree =
      flame_tree({{"main;cuMemAlloc", {10, 1, 0}}, {"main;cuMemAlloc;hipMalloc", {30, 1, 0}}}, Weight::Time, 1, true);
  EXPECT_THAT(drawn(tree), ElementsAre("main 40", "cuMemAlloc", "hipMalloc 30 *"));
}

TEST(FlameTree, DeepStacksAreNoMatter) {
  std::string deep = "f";
  for (int i = 0; i < 20'000; ++i) deep += ";f";
  EXPECT_EQ(flame_tree({{deep, {1, 1, 0}}}, Weight::Time, 1, true).lines.size(), 20'001u);
}

}  // namespace
}  // namespace fade::query
