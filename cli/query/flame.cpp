#include "cli/query/flame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kDeepestBranch = 16;  // further in, branches are no longer indented

struct WeightRow {
  const char* word;
  const char* unit;  // of speedscope
  const char* title;
};
constexpr WeightRow kRows[kWeights] = {{"time", "nanoseconds", "time in watched calls"},
                                       {"calls", "none", "calls"},
                                       {"bytes", "bytes", "memory allocated"},
                                       {"peak", "bytes", "memory at the peak"},
                                       {"leaks", "bytes", "memory never freed"}};

std::size_t index(Weight weight) { return static_cast<std::size_t>(weight); }

std::vector<std::string_view> split(std::string_view frames) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = frames.find(';');
    out.push_back(frames.substr(0, end));
    if (end == frames.npos) return out;
    frames.remove_prefix(end + 1);
  }
}

struct Node {
  std::int64_t weight = 0;
  std::map<std::string_view, std::size_t> children;  // index
  bool leaf = true;
};

// Heaviest first; of equal ones the first in the alphabet.
std::vector<std::pair<std::string_view, std::size_t>> by_weight(const std::vector<Node>& nodes, const Node& node) {
  std::vector<std::pair<std::string_view, std::size_t>> out(node.children.begin(), node.children.end());
  std::stable_sort(out.begin(), out.end(),
                   [&](const auto& a, const auto& b) { return nodes[a.second].weight > nodes[b.second].weight; });
  return out;
}

std::vector<Node> folded(const std::vector<FoldedStack>& stacks, Weight weight) {
  std::vector<Node> nodes(1);
  for (const FoldedStack& stack : stacks) {
    const std::int64_t w = stack.weights[index(weight)];
    if (w <= 0) continue;
    std::size_t at = 0;
    nodes[0].weight += w;
    for (const std::string_view frame : split(stack.frames)) {
      const auto [child, fresh] = nodes[at].children.try_emplace(frame, nodes.size());
      const std::size_t next = child->second;
      nodes[at].leaf = false;
      if (fresh) nodes.emplace_back();
      nodes[at = next].weight += w;
    }
  }
  return nodes;
}

struct Branch {  // how its lines begin
  std::string first, rest;
};
Branch branch(const std::string& indent, bool last, bool utf8) {
  if (utf8) return {indent + (last ? "└─ " : "├─ "), indent + (last ? "   " : "│  ")};
  return {indent + (last ? "`- " : "|- "), indent + (last ? "   " : "|  ")};
}

struct Open {  // still to be written
  std::string_view label;
  std::size_t node;
  Branch branch;
  std::size_t depth;
  bool same;
};

}  // namespace

Weight weight_from_word(const std::string& word) {
  for (std::size_t i = 0; i < kWeights; ++i)
    if (word == kRows[i].word) return static_cast<Weight>(i);
  return Weight::Time;
}

Result<void> write_collapsed(const std::vector<FoldedStack>& stacks, Weight weight, table::Bytes& out) {
  for (const FoldedStack& stack : stacks)
    if (const std::int64_t w = stack.weights[index(weight)]; w > 0)
      if (auto done = out.write(fmt::format("{} {}\n", table::escape(stack.frames), w)); !done) return done;
  return out.flush();
}

namespace {

// Numbers for the names of frames, in order of appearance.
class FrameNumbers {
 public:
  std::string samples_of(const FoldedStack& stack) {
    std::string out;
    for (const std::string_view frame : split(stack.frames))
      (out += out.empty() ? "" : ",") += std::to_string(number(frame));
    return out;
  }
  Result<void> write(table::Bytes& out) const {
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (auto done = out.write(fmt::format("{}{{\"name\":{}}}", i == 0 ? "" : ",\n", table::json_quote(names_[i])));
          !done)
        return done;
    return {};
  }

 private:
  std::size_t number(std::string_view frame) {
    const auto [known, fresh] = numbers_.try_emplace(frame, names_.size());
    if (fresh) names_.push_back(frame);
    return known->second;
  }
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<std::string_view> names_;
};

std::string profile(const std::vector<FoldedStack>& stacks, FrameNumbers& numbers, std::size_t weight) {
  std::string samples, weights;
  std::int64_t total = 0;
  for (const FoldedStack& stack : stacks) {
    const std::int64_t w = stack.weights[weight];
    if (w <= 0) continue;
    samples += fmt::format("{}[{}]", samples.empty() ? "" : ",", numbers.samples_of(stack));
    weights += fmt::format("{}{}", weights.empty() ? "" : ",", w);
    total += w;
  }
  if (total == 0) return {};
  return fmt::format(
      "{{\"type\":\"sampled\",\"name\":\"{}\",\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},\n\"samples\":[{}],"
      "\n\"weights\":[{}]}}",
      kRows[weight].title, kRows[weight].unit, total, samples, weights);
}

}  // namespace

Result<void> write_speedscope(const std::vector<FoldedStack>& stacks, Weight shown, const std::string& name,
                              table::Bytes& out) {
  FrameNumbers numbers;
  std::string profiles;
  std::size_t active = 0, count = 0;
  for (std::size_t w = 0; w < kWeights; ++w) {
    const std::string text = profile(stacks, numbers, w);
    if (text.empty()) continue;
    if (w == index(shown)) active = count;
    profiles += (count++ == 0 ? "" : ",\n") + text;
  }
  const std::string head = fmt::format(
      "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"fade "
      "{}\",\"name\":{},\"activeProfileIndex\":{},\n\"shared\":{{\"frames\":[\n",
      FADE_VERSION, table::json_quote(name), active);
  if (auto done = out.write(head); !done) return done;
  if (auto done = numbers.write(out); !done) return done;
  if (auto done = out.write("]},\n\"profiles\":[\n" + profiles + "]}\n"); !done) return done;
  return out.flush();
}

FlameTree flame_tree(const std::vector<FoldedStack>& stacks, Weight weight, double least, bool utf8) {
  const std::vector<Node> nodes = folded(stacks, weight);
  FlameTree out;
  out.total = nodes[0].weight;
  const auto share = [&](std::size_t node) {
    return 100.0 * static_cast<double>(nodes[node].weight) / static_cast<double>(std::max<std::int64_t>(out.total, 1));
  };
  std::vector<Open> open;
  const auto add_children = [&](std::size_t node, const std::string& indent, std::size_t depth) {
    auto children = by_weight(nodes, nodes[node]);
    const auto light =
        std::partition_point(children.begin(), children.end(), [&](const auto& c) { return share(c.second) >= least; });
    out.left_out += static_cast<std::size_t>(children.end() - light);
    children.erase(light, children.end());
    const bool chain = children.size() == 1;
    for (std::size_t i = children.size(); i-- > 0;) {
      const auto& [label, child] = children[i];
      const bool same = chain && node != 0 && nodes[child].weight == nodes[node].weight;
      const Branch how =
          chain || depth >= kDeepestBranch ? Branch{indent, indent} : branch(indent, i + 1 == children.size(), utf8);
      open.push_back({label, child, how, depth + !chain, same});
    }
  };
  add_children(0, {}, 0);
  while (!open.empty()) {
    const Open now = std::move(open.back());
    open.pop_back();
    out.lines.push_back({now.branch.first, std::string(now.label), nodes[now.node].weight, share(now.node),
                         nodes[now.node].leaf, now.same});
    add_children(now.node, now.branch.rest, now.depth);
  }
  return out;
}

}  // namespace fade::query
