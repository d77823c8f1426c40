// stacks for people: the most expensive call stacks with their frames, or one stack in full.
#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "cli/query/flame.hpp"
#include "cli/query/page.hpp"
#include "cli/query/report.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kStacks = 10;
constexpr std::size_t kInnermost = 6, kPython = 4;  // frames shown of each, where not one stack is asked for
constexpr std::size_t kIndent = 4, kGap = 2, kSmallest = 16, kUnlimited = 200;

struct Frame {
  std::string label, place;
  bool python = false;
};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string place_of(const Row& row) {  // label, kind, inlined, library, function, file, line
  const std::string library = table::raw_text(row[3]), file = table::raw_text(row[5]), line = table::raw_text(row[6]);
  std::string place = !file.empty() ? base_name(file) + (line.empty() ? "" : ":" + line) : table::is_null(row[4]) ? std::string() : base_name(library);
  if (integer(row[2]) != 0) place += place.empty() ? "inlined" : " (inlined)";
  return place;
}

// As stack_frames, but without JSON functions, which views may not use where the file is not trusted.
constexpr const char* kFrames = R"(WITH RECURSIVE up(parent, frame, n) AS (
  SELECT parent, frame, 0 FROM stack_tree WHERE stack = CAST(:word AS INTEGER)
  UNION ALL SELECT t.parent, t.frame, n + 1 FROM up JOIN stack_tree t ON t.stack = up.parent WHERE n < 10000)
SELECT f.label, f.kind, 0, f.library, f.function, f.file, f.line, n AS n, 1000000 AS depth FROM up JOIN frames f ON f.id = up.frame
UNION ALL SELECT coalesce(i.function, '?'), 'native', 1, f.library, i.function, i.file, i.line, n, i.depth FROM up JOIN inlined_functions i ON i.frame = up.frame JOIN frames f ON f.id = i.frame
ORDER BY 8, 9)";

Result<std::vector<Frame>> frames_of(const Context& context, Recording& recording, std::int64_t stack) {
  auto rows = rows_for(context, recording, kFrames, std::to_string(stack));
  if (!rows) return tl::unexpected(rows.error());
  std::vector<Frame> out;
  for (const Row& row : *rows) out.push_back({page_text(row[0]), table::printable(place_of(row)), table::raw_text(row[1]) == "python"});
  return out;
}

// The innermost frames, and the innermost ones of Python.
std::vector<bool> chosen(const std::vector<Frame>& frames, bool all) {
  std::vector<bool> out(frames.size(), false);
  std::size_t python = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    out[i] = all || i < kInnermost || (frames[i].python && python < kPython);
    python += frames[i].python;
  }
  return out;
}

Result<void> print_frames(Context& context, const std::vector<Frame>& frames, bool all) {
  const auto& terminal = context.output.style.terminal;
  const std::size_t width = (terminal.width == 0 ? kUnlimited : terminal.width) - kIndent;
  const auto show = chosen(frames, all);
  std::size_t places = 0, labels = 0, skipped = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!show[i]) continue;
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
    if (!show[i]) {
      ++skipped;
      continue;
    }
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

std::string headline(const Context& context, const Row& row) {  // stack, pid, calls, errors, total_ns, self_ns, bytes, functions
  const auto& style = context.output.style;
  const std::int64_t calls = integer(row[2]), errors = integer(row[3]), bytes = integer(row[6]);
  std::string text = fmt::format("stack {}: {} call{} of {}, {}", page_text(row[0]), table::human_count(calls), calls == 1 ? "" : "s", page_text(row[7]),
                                 table::human_duration(integer(row[4]), style.units, style.terminal.utf8));
  if (bytes > 0) text += ", " + table::human_bytes(bytes) + " allocated";
  if (errors > 0) text += fmt::format(", {} failed", table::human_count(errors));
  return text + ", process " + page_text(row[1]);
}

std::string sql_of(const Context& context, const Recording& recording) {
  constexpr const char* kOrders[kWeights] = {"self_ns", "calls", "bytes"};
  const auto given = parameters(context.settings);
  const auto session = chosen_session(context.settings, recording);
  const std::string sql = find_report("stacks")->sql_for([&](std::string_view name) {
    if (name == "session") return session && !table::is_null(*session);
    return std::any_of(given.begin(), given.end(), [&](const Parameter& p) { return p.parameter == name && !table::is_null(p.value); });
  });
  return fmt::format("WITH report AS (\n{}\n)\nSELECT stack, pid, calls, errors, total_ns, self_ns, bytes, functions FROM report ORDER BY {} DESC, stack LIMIT {}", sql,
                     kOrders[static_cast<std::size_t>(weight_from_word(context.settings.weight))], kStacks + 1);
}

}  // namespace

Result<void> show_stacks(Context& context, Recording& recording) {
  if (auto fine = check_filters(context.settings, *find_report("stacks")); !fine) return fine;
  auto rows = rows_for(context, recording, sql_of(context, recording), {});
  if (!rows) return tl::unexpected(rows.error());
  const bool one = context.settings.stack.has_value();
  table::Bytes& out = *context.output.bytes;
  if (rows->empty()) return out.write(one ? "no call has that stack\n" : "no call has a stack: fade-run --stacks chooses which calls do\n");
  for (std::size_t i = 0; i < std::min(rows->size(), kStacks); ++i) {
    auto frames = frames_of(context, recording, integer((*rows)[i][0]));
    if (!frames) return tl::unexpected(frames.error());
    if (auto done = out.write((i == 0 ? "" : "\n") + bold(context, paragraph(context, headline(context, (*rows)[i]), 0)) + "\n"); !done) return done;
    if (auto done = print_frames(context, *frames, one); !done) return done;
  }
  if (rows->size() > kStacks) log::info("there are more stacks; --limit 0 lists all");
  return {};
}

}  // namespace fade::query
