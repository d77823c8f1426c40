// The flame graph's data: frames once, stacks as numbers of frames, and for each weight the heaviest stacks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "cli/query/doubts.hpp"
#include "cli/query/flame_stacks.hpp"
#include "cli/query/html_data.hpp"

namespace fade::query::html {
namespace {

constexpr std::int64_t kMostStacks = 700;     // of each weight
constexpr std::size_t kMostOfOneStack = 400;  // frames
constexpr std::pair<Weight, const char*> kWords[] = {{Weight::Time, "time"},
                                                     {Weight::Calls, "calls"},
                                                     {Weight::Bytes, "bytes"},
                                                     {Weight::Peak, "peak"},
                                                     {Weight::Leaks, "leaks"}};

const char* unit_of(Weight weight) {
  return weight == Weight::Time ? "duration" : weight == Weight::Calls ? "count" : "bytes";
}

// Numbers of frames and of stacks, in order of appearance.
class StackNumbers {
 public:
  std::int64_t stack(const std::string& frames) {
    const auto [known, fresh] = stacks_.try_emplace(frames, static_cast<std::int64_t>(stacks_.size()));
    if (fresh) stack_list_.push_back(frames_of(frames));
    return known->second;
  }
  const Json& frames() const { return frame_list_; }
  const Json& stacks() const { return stack_list_; }

 private:
  // The frames in the middle of a very deep stack are left out, and a frame says so.
  Json frames_of(std::string_view frames) {
    std::vector<std::string_view> all;
    for (std::size_t end = frames.find(';'); end != frames.npos; end = frames.find(';')) {
      all.push_back(frames.substr(0, end));
      frames.remove_prefix(end + 1);
    }
    all.push_back(frames);
    Json out = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool middle =
          all.size() > kMostOfOneStack && i >= kMostOfOneStack / 2 && i + kMostOfOneStack / 2 < all.size();
      if (!middle) out.push_back(frame(shown(all[i])));
      else if (i == kMostOfOneStack / 2)
        out.push_back(frame(fmt::format("({} frames left out)", all.size() - kMostOfOneStack)));
    }
    return out;
  }
  std::int64_t frame(const std::string& text) {
    const auto [known, fresh] = frames_.try_emplace(text, static_cast<std::int64_t>(frames_.size()));
    if (fresh) frame_list_.push_back(text);
    return known->second;
  }
  std::unordered_map<std::string, std::int64_t> frames_, stacks_;
  Json frame_list_ = Json::array(), stack_list_ = Json::array();
};

// The heaviest stacks as [stack, weight]. `rest` and `left_out`: of all others.
Json heaviest(FoldedStacks& folded, Weight weight, std::int64_t most, StackNumbers& numbers, Json& about) {
  const auto w = [&](const FoldedStack& s) { return s.weights[static_cast<std::size_t>(weight)]; };
  std::ranges::stable_sort(folded.stacks, std::ranges::greater(), w);
  Json out = Json::array();
  std::int64_t rest = 0, left_out = 0;
  for (const FoldedStack& stack : folded.stacks) {
    if (w(stack) <= 0) break;
    if (static_cast<std::int64_t>(out.size()) < most) out.push_back({numbers.stack(stack.frames), w(stack)});
    else rest += w(stack), ++left_out;
  }
  about["rest"] = rest;
  about["left_out"] = left_out;
  return out;
}

// Peak and leaks stand on calls for memory, and say what was not watched of it.
std::string doubt_of(const Source& source, Weight weight) {
  const bool held = weight != Weight::Time && weight != Weight::Calls;
  std::string text = remark(source.recording, source.session, held ? "memory" : "calls", false);
  const std::string frees = weight == Weight::Leaks ? why_open(source.recording, source.session, "frees") : "";
  if (!frees.empty()) text += (text.empty() ? "" : " ") + ("Not all frees were watched: " + frees + ".");
  return text;
}

// `own`: without frames of the system, where there are others.
struct BothStacks {
  FoldedStacks own, all;
};

Result<BothStacks> read_calls(const Source& source) {
  Settings settings;
  settings.session = source.context.settings.session;
  const Context context{settings, {}, source.context.path, source.context.named, source.context.output};
  auto own = read_stacks(context, source.recording, true);
  if (!own) return tl::unexpected(own.error());
  auto all = read_stacks(context, source.recording, false);
  if (!all) return tl::unexpected(all.error());
  return BothStacks{std::move(*own), std::move(*all)};
}

FoldedStacks folded_by(const NamedRows& rows, std::string_view frames) {
  std::map<std::string, FoldedStack> by_frames;
  for (const NamedRow& row : rows) {
    FoldedStack& stack = by_frames[row.raw(frames)];
    stack.weights[static_cast<std::size_t>(Weight::Peak)] += row.number("peak");
    stack.weights[static_cast<std::size_t>(Weight::Leaks)] += row.number("leaks");
  }
  FoldedStacks out;
  for (auto& [text, stack] : by_frames) {
    stack.frames = text;
    out.stacks.push_back(std::move(stack));
  }
  return out;
}

// A recording of many allocations is long to read: all at once.
Result<BothStacks> read_held(const Source& source) {
  const auto rows = source.rows("html_held");
  if (!rows) return tl::unexpected(rows.error());
  return BothStacks{folded_by(*rows, "own"), folded_by(*rows, "frames")};
}

Json weight_json(const Source& source, BothStacks& stacks, Weight weight, const char* word, StackNumbers& numbers) {
  const bool open = weight == Weight::Leaks && !why_open(source.recording, source.session, "frees").empty();
  Json out{{"id", word},
           {"unit", unit_of(weight)},
           {"title", open ? std::string("not seen to be freed") : std::string(weight_title(weight))}};
  out["own"] = heaviest(stacks.own, weight, source.most(kMostStacks), numbers, out);
  Json of_all = Json::object();
  out["all"] = heaviest(stacks.all, weight, source.most(kMostStacks), numbers, of_all);
  out["rest_all"] = of_all["rest"];
  out["left_out_all"] = of_all["left_out"];
  out["remark"] = shown(estimate_text(stacks.own, weight));
  out["doubt"] = shown(doubt_of(source, weight));
  if (out["own"].empty()) out["nothing"] = shown(no_stacks_text(source.context, source.recording, weight));
  return out;
}

}  // namespace

Result<Json> flame_part(const Source& source) {
  StackNumbers numbers;
  Json weights = Json::array();
  auto calls = read_calls(source), memory = read_held(source);
  if (!calls || !memory) return tl::unexpected(!calls ? calls.error() : memory.error());
  for (const auto& [weight, word] : kWords) {
    const bool held = weight == Weight::Peak || weight == Weight::Leaks;
    weights.push_back(weight_json(source, held ? *memory : *calls, weight, word, numbers));
  }
  return Json{{"frames", numbers.frames()},
              {"stacks", numbers.stacks()},
              {"weights", weights},
              {"command", source.command("flame")}};
}

}  // namespace fade::query::html
