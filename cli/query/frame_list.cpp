#include "cli/query/frame_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/glob.hpp"
#include "cli/query/stack_text.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kInnermost = 6, kPython = 4;  // frames shown of each, where not one stack is asked for
constexpr std::size_t kIndent = 4, kGap = 2, kSmallest = 16, kUnlimitedFrame = 200;

std::string frame_place(const NamedRow& frame) {
  const std::string file = frame.raw("file"), line = frame.raw("line");
  std::string place = !file.empty()           ? std::string(file_name(file)) + (line.empty() ? "" : ":" + line)
                      : frame.has("function") ? std::string(base_name(frame.raw("library")))
                                              : std::string();
  if (frame.is("inlined")) place += place.empty() ? "inlined" : " (inlined)";
  if (frame.raw("kind") == "libunwind") place += place.empty() ? "(libunwind)" : " (libunwind)";
  return place;
}

enum class Fate { Shown, Counted, Passed };

// The innermost frames of the program's own code, and the innermost ones of Python; what is around them is passed over.
std::vector<Fate> fates(const std::vector<Frame>& frames, Frames which) {
  std::vector<Fate> out(frames.size(), Fate::Shown);
  if (which == Frames::All) return out;
  const bool own = std::any_of(frames.begin(), frames.end(), [](const Frame& f) { return !f.system; });
  std::size_t shown = 0, python = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (own && frames[i].system) {
      out[i] = Fate::Passed;
      continue;
    }
    if (shown++ >= kInnermost && (!frames[i].python || python >= kPython)) out[i] = Fate::Counted;
    python += frames[i].python;
  }
  return out;
}

}  // namespace

Result<std::vector<Frame>> frames_of(const Context& context, Recording& recording, std::int64_t stack) {
  auto rows = named_rows(context, recording, schema::page_sql("frames"), {{":stack", stack}});
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Frame> out;
  for (const NamedRow& row : *rows)
    out.push_back(
        {row.text("label"), table::printable(frame_place(row)), row.raw("kind") == "python", row.is("system")});
  return out;
}

Result<void> print_frames(Context& context, const std::vector<Frame>& frames, Frames which) {
  const auto& terminal = context.output.style.terminal;
  const std::size_t width = (terminal.width == 0 ? kUnlimitedFrame : terminal.width) - kIndent;
  const auto fate = fates(frames, which);
  std::size_t places = 0, labels = 0, skipped = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (fate[i] != Fate::Shown) continue;
    places = std::max(places, table::display_width(frames[i].place));
    labels = std::max(labels, table::display_width(frames[i].label));
  }
  places = std::min(places, std::max(width / 2, kSmallest));
  labels = std::min(labels, std::max(width - std::min(width, places + kGap), kSmallest));
  std::string text;
  const auto skip = [&] {
    if (skipped > 0) text += fmt::format("{:{}}... {} more\n", "", kIndent, skipped);
    skipped = 0;
  };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    skipped += fate[i] == Fate::Counted;
    if (fate[i] != Fate::Shown) continue;
    skip();
    const std::string label = table::shorten_middle(frames[i].label, labels, terminal.utf8);
    const std::string place = table::shorten_middle(frames[i].place, places, terminal.utf8);
    text += std::string(kIndent, ' ') + label;
    if (!place.empty()) text += std::string(labels - std::min(labels, table::display_width(label)) + kGap, ' ') + place;
    text += '\n';
  }
  skip();
  return context.output.bytes->write(text);
}

}  // namespace fade::query
