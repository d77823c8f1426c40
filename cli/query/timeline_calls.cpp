// The calls of a timeline: a slice each on their thread. A launch is an instant on its stream as well: the moment when
// the host asked for it.
#include <algorithm>
#include <array>

#include "cli/query/report.hpp"
#include "cli/query/timeline_details.hpp"
#include "cli/table/human.hpp"
#include "cli/timeline/arguments.hpp"

namespace fade::query {
namespace {

constexpr std::int64_t kCallsAtOnce =
    20000;  // rows in one read transaction, so that a live recording's log can be reset

enum CallColumn { Id, Start, End, Thread, Function, State, Result_, Failed, Args, Caller, Launch, Stack };

struct StateText {
  std::string_view state, text;
  bool ends_at_once;  // the end is not known, and the call need not have gone on
};
constexpr StateText kStates[] = {
    {"open", "under way when the recording ended", false},
    {"unwound", "left by an exception, longjmp or the end of its thread", false},
    {"entry only", "recorded at its entry alone: the end is not known", true},
    {"unseen", "its return was not seen: the end is not known", true},
};

std::int64_t number(const table::Value& value) {
  const auto* n = std::get_if<std::int64_t>(&value);
  return n ? *n : 0;
}
std::string_view text(const table::Value& value) {
  const auto* s = std::get_if<std::string>(&value);
  return s ? std::string_view(*s) : std::string_view();
}

class CallReader {
 public:
  explicit CallReader(TimelineSource& source)
      : source_(source), details_(source), has_gpu_(has_gpu_work(source.recording)) {}
  Result<CallTally> run();

 private:
  Result<bool> read_page(Statement& statement);
  Result<void> add(const Row& row);
  Result<void> add_details(const Row& row);
  Result<void> add_launch(const Row& row, const TimelineDetails::Thread& thread);
  void add_state(const Row& row, timeline::Event& event);
  Result<void> tell_limit();

  TimelineSource& source_;
  TimelineDetails details_;
  const bool has_gpu_;
  std::vector<timeline::Argument> arguments_;
  timeline::CallArguments call_arguments_;
  CallTally tally_;
  table::Value after_ = std::int64_t{-1};
  std::int64_t last_start_ = 0;
};

// The end of a call. A call without an end gets an argument with the reason.
void CallReader::add_state(const Row& row, timeline::Event& event) {
  const auto* thread = details_.thread(number(row[Thread]));
  if (!table::is_null(row[End])) event.end = source_.clocks.at(thread->session, number(row[End]));
  for (const StateText& s : kStates) {
    if (s.state != text(row[State])) continue;
    arguments_.push_back({"state", s.text, true});
    if (s.ends_at_once && !event.end) event.end = event.start;
  }
}

Result<void> CallReader::add_details(const Row& row) {
  arguments_.assign({{"call", number(row[Id])}});
  if (const auto* n = std::get_if<std::int64_t>(&row[Result_])) arguments_.push_back({"result", *n});
  else if (!table::is_null(row[Result_])) arguments_.push_back({"result", text(row[Result_]), true});
  if (number(row[Failed]) != 0) arguments_.push_back({"failed", true});
  if (!table::is_null(row[Caller])) {
    auto caller = details_.caller(number(row[Caller]));
    if (!caller) return tl::unexpected(caller.error());
    if (!(*caller)->empty()) arguments_.push_back({"caller", std::string_view(**caller), true});
  }
  if (table::is_null(row[Stack])) return {};
  auto stack = details_.stack(number(row[Stack]));
  if (!stack) return tl::unexpected(stack.error());
  if (!(*stack)->line.empty()) arguments_.push_back({"line", std::string_view((*stack)->line), true});
  arguments_.push_back({"stack", std::string_view((*stack)->frames), true});
  return {};
}

// Also the instant on the stream; not in Kineto's form, where it would look like the GPU's work.
Result<void> CallReader::add_launch(const Row& row, const TimelineDetails::Thread& thread) {
  auto found = details_.launch(number(row[Launch]), number(row[Id]));
  if (!found) return tl::unexpected(found.error());
  const TimelineDetails::Launch& launch = **found;
  const std::size_t first = arguments_.size();
  arguments_.push_back({"kernel", std::string_view(launch.kernel), true});
  arguments_.push_back({"grid", timeline::Json{launch.grid}});
  arguments_.push_back({"block", timeline::Json{launch.block}});
  if (launch.shared_bytes != 0) arguments_.push_back({"shared_bytes", launch.shared_bytes});
  if (launch.captured) arguments_.push_back({"captured", "into a graph instead of running", true});
  const std::string stream = launch.stream ? "stream " + std::to_string(*launch.stream) : "stream unknown";
  arguments_.push_back({"on_stream", launch.stream.value_or(-1)});
  if (source_.kineto || launch.captured) return {};
  auto lane = source_.tracks.lane({.parent = thread.process, .name = stream + " (asked for)"});
  if (!lane) return tl::unexpected(lane.error());
  return source_.writer.instant({.track = *lane,
                                 .start = source_.clocks.at(thread.session, number(row[Start])),
                                 .name = launch.kernel,
                                 .category = "asked for",
                                 .arguments = std::span(arguments_).subspan(first)});
}

Result<void> CallReader::add(const Row& row) {
  const TimelineDetails::Thread* thread = details_.thread(number(row[Thread]));
  if (!thread) return {};  // a damaged file
  if (auto done = add_details(row); !done) return done;
  if (!table::is_null(row[Launch]))
    if (auto done = add_launch(row, *thread); !done) return done;
  const TimelineDetails::Function& function = details_.function(number(row[Function]));
  last_start_ = source_.clocks.at(thread->session, number(row[Start]));
  timeline::Event event{.track = thread->track, .start = last_start_, .name = function.name, .category = function.api};
  add_state(row, event);
  if (has_gpu_ && function.on_gpu) event.flow_out = static_cast<std::uint64_t>(number(row[Id]));
  event.arguments = arguments_;
  if (!table::is_null(row[Args])) event.call_arguments = call_arguments_.read(text(row[Args]));
  return source_.writer.slice(event);
}

// False after the last page.
Result<bool> CallReader::read_page(Statement& statement) {
  const auto& limit = source_.context.settings.limit;
  statement.reset();
  statement.bind(":after", after_);
  Row row(static_cast<std::size_t>(statement.columns()));
  for (std::int64_t rows = 0;; ++rows) {
    auto next = statement.step();
    if (!next) return tl::unexpected(next.error());
    if (!*next) return rows == kCallsAtOnce;
    tally_.more = limit && *limit > 0 && tally_.calls >= *limit;
    if (tally_.more) return false;
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = statement.value(static_cast<int>(i));
    after_ = row[Id];
    if (auto done = add(row); !done) return tl::unexpected(done.error());
    ++tally_.calls;
  }
}

// The time that has no calls because of --limit looks like that, not as if nothing had happened.
Result<void> CallReader::tell_limit() {
  const std::string name = "later calls are in the recording and not here: --limit " + std::to_string(tally_.calls);
  auto lane = source_.tracks.lane({.name = "not exported"});
  if (!lane) return tl::unexpected(lane.error());
  return source_.writer.slice({.track = *lane,
                               .start = last_start_,
                               .end = std::max(source_.clocks.end(), last_start_),
                               .name = name,
                               .category = "not exported"});
}

Result<CallTally> CallReader::run() {
  if (auto done = details_.prepare(); !done) return tl::unexpected(done.error());
  const std::string sql = filtered_sql(source_.context, source_.recording, "timeline");
  auto statement = source_.recording.database.prepare(
      "SELECT * FROM (\n" + sql + "\n) WHERE id > :after ORDER BY id LIMIT " + std::to_string(kCallsAtOnce));
  if (!statement) return tl::unexpected(statement.error());
  for (const Parameter& p : parameters(source_.context.settings))
    statement->bind((":" + std::string(p.parameter)).c_str(), p.value);
  statement->bind(":session", source_.session);
  for (;;) {
    auto more = read_page(*statement);
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
  }
  if (tally_.more)
    if (auto done = tell_limit(); !done) return tl::unexpected(done.error());
  return tally_;
}

}  // namespace

Result<CallTally> add_calls(TimelineSource& source) { return CallReader(source).run(); }

}  // namespace fade::query
