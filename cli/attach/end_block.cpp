#include "cli/attach/end_block.hpp"

#include <fmt/format.h>

#include "base/glob.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::attach {
namespace {

using recording::count;
using recording::duration;

std::string number(std::uint64_t n) { return table::human_count(static_cast<std::int64_t>(n)); }

std::string who(const Watched& watched) {
  const Attached& first = watched.first;
  if (first.program.empty()) return "the program";  // it was gone before anything could be said of it
  const std::string name = fmt::format("{} (pid {})", table::printable(base_name(first.program)), first.pid);
  return watched.processes > 1
             ? fmt::format("{} and {}", name, count(watched.processes - 1, "more process", "more processes"))
             : name;
}

std::string held(const HoldTimes& holds, const Style& style) {
  if (holds.held == 0) return fmt::format("none of {}", count(holds.threads, "thread", "threads"));
  return fmt::format("{} of {}: median {}, worst {}", number(holds.held), count(holds.threads, "thread", "threads"),
                     duration(holds.median_ns, style), duration(holds.worst_ns, style));
}

std::string differing(std::uint64_t bytes) {
  return fmt::format("{} of the program's text {} not what the files hold", count(bytes, "byte", "bytes"),
                     bytes == 1 ? "is" : "are");
}

std::string how_it_ended(const Watched& watched, const AttachOutcome& outcome) {
  return outcome.ended ? who(watched) + " ended" : "detached from " + who(watched);
}

}  // namespace

std::vector<std::string> attached_sentences(const Watched& watched, const Style& style) {
  const Attached& first = watched.first;
  std::vector<std::string> sentences{
      fmt::format("attached to {}, recording to {}", who(watched), table::printable(first.database)),
      fmt::format("held {}", held(first.holds, style))};
  for (const std::string& note : first.notes) sentences.push_back("note: " + table::printable(note));
  return sentences;
}

std::string end_block(const Watched& watched, const AttachOutcome& outcome, const Style& style) {
  std::vector<recording::Line> more{{"held", "attaching: " + held(watched.first.holds, style)}};
  if (!outcome.ended) more.emplace_back("", "detaching: " + held(outcome.detach_holds, style));
  if (outcome.bytes_differing > 0) more.emplace_back("left", recording::red(differing(outcome.bytes_differing), style));
  else if (!outcome.ended) more.emplace_back("restored", "all patched code, verified");
  return recording::end_block(outcome.summary, how_it_ended(watched, outcome), more, style);
}

std::vector<std::string> must_say(const Watched& watched, const AttachOutcome& outcome) {
  std::vector<std::string> sentences{how_it_ended(watched, outcome)};
  if (outcome.bytes_differing > 0) sentences.push_back(differing(outcome.bytes_differing));
  for (std::string& sentence : recording::must_say(outcome.summary)) sentences.push_back(std::move(sentence));
  return sentences;
}

}  // namespace fade::cli::attach
