#include "cli/query/frame_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/query/stack_text.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kInnermost = 6, kPython = 4;  // frames shown of each, where not one stack is asked for
constexpr std::size_t kIndent = 4, kGap = 2, kSmallest = 16, kUnlimitedFrame = 200;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string frame_place(const Row& row) {  // label, kind, inlined, library, function, file, line, system
  const std::string library = table::raw_text(row[3]), file = table::raw_text(row[5]), line = table::raw_text(row[6]);
  std::string place = !file.empty()            ? std::string(file_name(file)) + (line.empty() ? "" : ":" + line)
                      : table::is_null(row[4]) ? std::string()
                                               : base_name(library);
  if (integer(row[2]) != 0) place += place.empty() ? "inlined" : " (inlined)";
  if (table::raw_text(row[1]) == "libunwind") place += place.empty() ? "(libunwind)" : " (libunwind)";
  return place;
}

// As stack_frames, but without JSON functions, which views may not use where the file is not trusted.
constexpr const char* kFramesOfAStack = R"(WITH RECURSIVE up(parent, frame, n) AS (
  SELECT parent, frame, 0 FROM stack_tree WHERE stack = CAST(:word AS INTEGER)
  UNION ALL SELECT t.parent, t.frame, n + 1 FROM up JOIN stack_tree t ON t.stack = up.parent WHERE n < 10000)
SELECT f.label, f.kind, 0, f.library, f.function, f.file, f.line, f.system, n AS n, 1000000 AS depth
FROM up JOIN frames f ON f.id = up.frame
UNION ALL
SELECT coalesce(i.function, '?'), 'native', 1, f.library, i.function, i.file, i.line, f.system, n, i.depth
FROM up JOIN inlined_functions i ON i.frame = up.frame JOIN frames f ON f.id = i.frame
ORDER BY 9, 10)";

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
  auto rows = rows_for(context, recording, kFramesOfAStack, std::to_string(stack));
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Frame> out;
  for (const Row& row : *rows)
    out.push_back({page_text(row[0]), table::printable(frame_place(row)), table::raw_text(row[1]) == "python",
                   integer(row[7]) != 0});
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
