#include "cli/ab/kernel_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace fade::cli::ab {
namespace {

using Runs = std::vector<const Figures*>;
using Shape = std::pair<std::string, std::string>;  // grid, block
using Shapes = std::map<Shape, std::uint64_t>;      // launches

constexpr std::size_t kMostShapes = 3;

// Of each kernel, what either side launched.
std::map<std::string, std::array<Shapes, 2>> collect(const Runs& without, const Runs& with) {
  std::map<std::string, std::array<Shapes, 2>> kernels;
  for (const std::size_t side : {0u, 1u})
    for (const Figures* run : side == 0 ? without : with)
      for (const KernelUse& use : run->kernels) kernels[use.kernel][side][{use.grid, use.block}] += use.launches;
  return kernels;
}

bool same_shapes(const Shapes& a, const Shapes& b) {
  return std::ranges::equal(a, b, {}, &Shapes::value_type::first, &Shapes::value_type::first);
}

std::uint64_t launches(const Shapes& shapes) {
  std::uint64_t all = 0;
  for (const auto& [shape, n] : shapes) all += n;
  return all;
}

std::string per_run(std::uint64_t launches, std::size_t runs) {
  const double mean = static_cast<double>(launches) / static_cast<double>(runs);
  return fmt::format("{:.{}f} {} a run", mean, launches % runs == 0 ? 0 : 1, launches == runs ? "launch" : "launches");
}

std::string text_of(const Shapes& shapes, std::size_t runs) {
  if (shapes.empty()) return "not launched";
  std::vector<std::pair<Shape, std::uint64_t>> sorted(shapes.begin(), shapes.end());
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &std::pair<Shape, std::uint64_t>::second);
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kMostShapes); ++i) {
    const auto& [shape, n] = sorted[i];
    text += fmt::format("{}grid {}, block {} ({})", i == 0 ? "" : "\n             ", shape.first, shape.second,
                        per_run(n, runs));
  }
  if (sorted.size() > kMostShapes)
    text += fmt::format("\n             and {} other grids", sorted.size() - kMostShapes);
  return text;
}

}  // namespace

std::vector<KernelChange> kernel_changes(const Runs& without, const Runs& with) {
  std::vector<KernelChange> out;
  for (const auto& [kernel, sides] : collect(without, with)) {
    if (same_shapes(sides[0], sides[1])) continue;
    out.push_back({kernel, text_of(sides[0], without.size()), text_of(sides[1], with.size()),
                   launches(sides[0]) + launches(sides[1])});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &KernelChange::launches);
  return out;
}

std::uint64_t number_of_kernels(const Runs& without, const Runs& with) { return collect(without, with).size(); }

}  // namespace fade::cli::ab
