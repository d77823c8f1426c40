#include "cli/query/timeline_details.hpp"

#include <fmt/format.h>

#include "cli/timeline/utf8.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

constexpr std::size_t kMostFacts = 5000;  // facts of one kind

// "main;step;hipMalloc" with the innermost first, as a person reads where a call came from.
std::string innermost_first(std::string_view frames) {
  std::string out;
  while (!frames.empty() && out.size() < timeline::kMostText) {
    const std::size_t cut = frames.rfind(';');
    const std::size_t from = cut == frames.npos ? 0 : cut + 1;
    (out += out.empty() ? "" : " < ") += frames.substr(from);
    frames = frames.substr(0, from == 0 ? 0 : cut);
  }
  return out;
}

std::string size_text(const NamedRow& row, std::string_view what) {
  const auto side = [&](const char* axis) { return row.number(fmt::format("{}_{}", what, axis)); };
  return fmt::format("[{},{},{}]", side("x"), side("y"), side("z"));
}

TimelineDetails::Launch launch_of(const NamedRow& row) {
  TimelineDetails::Launch out{row.raw("name"), size_text(row, "grid"), size_text(row, "block"),
                              row.number("shared_bytes")};
  if (row.has("stream_id")) out.stream = row.number("stream_id");
  out.captured = row.is("captured");
  return out;
}

}  // namespace

Result<void> TimelineDetails::prepare() {
  const auto add_thread = [&](const NamedRow& row) -> Result<void> {
    const std::int64_t session = row.number("session"), pid = row.number("pid");
    auto track = source_.tracks.thread(session, pid, row.number("tid"), row.raw("name"));
    if (!track) return tl::unexpected(track.error());
    auto process = source_.tracks.process({.session = session, .pid = pid});
    threads_[row.number("id")] = {session, *track, process.value_or(0)};
    return {};
  };
  const auto add_function = [&](const NamedRow& row) -> Result<void> {
    functions_[row.number("id")] = {row.raw("name"), row.raw("api"), row.is("on_gpu")};
    return {};
  };
  if (auto done = for_each_row(source_, std::string(schema::page_sql("timeline_functions")), add_function); !done)
    return done;
  return for_each_row(source_, std::string(schema::page_sql("timeline_threads")), add_thread);
}

const TimelineDetails::Thread* TimelineDetails::thread(std::int64_t id) const {
  const auto found = threads_.find(id);
  return found == threads_.end() ? nullptr : &found->second;
}

const TimelineDetails::Function& TimelineDetails::function(std::int64_t id) const {
  static const Function unknown{"?", "user"};
  const auto found = functions_.find(id);
  return found == functions_.end() ? unknown : found->second;
}

template <class Fact, class Make>
Result<const Fact*> TimelineDetails::look_up(Cache<Fact>& cache, std::optional<Statement>& statement, std::int64_t id,
                                             std::int64_t key, Make make) {
  if (const auto known = cache.find(id); known != cache.end()) return &known->second;
  if (cache.size() >= kMostFacts) cache.clear();
  Fact fact;
  statement->reset();
  statement->bind(":id", key);
  const auto use = [&](const NamedRow& row) -> Result<void> {
    fact = make(row);
    return {};
  };
  if (auto done = for_each_row(*statement, use); !done) return tl::unexpected(done.error());
  return &(cache[id] = std::move(fact));
}

namespace {

Result<void> prepare_once(Database& database, std::optional<Statement>& statement, std::string_view sql) {
  if (statement) return {};
  auto made = database.prepare(sql);
  if (!made) return tl::unexpected(made.error());
  statement.emplace(std::move(*made));
  return {};
}

}  // namespace

Result<const std::string*> TimelineDetails::caller(std::int64_t id) {
  constexpr std::string_view kSql =
      "SELECT coalesce(symbol, library || '+' || offset_hex, address_hex) AS caller FROM callers WHERE id = :id";
  if (auto done = prepare_once(source_.recording.database, caller_, kSql); !done) return tl::unexpected(done.error());
  return look_up(callers_, caller_, id, id, [](const NamedRow& row) { return row.raw("caller"); });
}

Result<const TimelineDetails::Stack*> TimelineDetails::stack(std::int64_t id) {
  constexpr std::string_view kSql =
      "SELECT (SELECT user_line FROM user_lines WHERE stack = :id) AS line, fade_frames(:id, 0) AS frames";
  if (auto done = prepare_once(source_.recording.database, stack_, kSql); !done) return tl::unexpected(done.error());
  return look_up(stacks_, stack_, id, id, [](const NamedRow& row) {
    return Stack{row.raw("line"), innermost_first(row.raw("frames"))};
  });
}

Result<const TimelineDetails::Launch*> TimelineDetails::launch(std::int64_t id, std::int64_t call) {
  constexpr std::string_view kSql =
      "SELECT name, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream_id, captured "
      "FROM launches WHERE id = :id AND nth = 0";
  if (auto done = prepare_once(source_.recording.database, launch_, kSql); !done) return tl::unexpected(done.error());
  return look_up(launches_, launch_, id, call, launch_of);
}

}  // namespace fade::query
