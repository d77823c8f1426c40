// list and info: recordings as files.
#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/query/command.hpp"
#include "cli/query/named_row.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"
#include "schema/schema.hpp"

namespace fade::query {
namespace {

using table::Kind;
using table::Value;
using Rows = std::vector<std::vector<Value>>;

const char* state_word(State state) {
  return state == State::Closed ? "closed" : state == State::Running ? "recording" : "not closed cleanly";
}

// One row per session; a file that cannot be read says why.
void add_sessions(Rows& rows, const FoundFile& file) {
  auto recording = open_recording(file.path);
  const auto unreadable = [&](const Error& e) {
    rows.push_back({file.path, Value{}, Value{}, Value{}, Value{}, file.bytes, e.cause.empty() ? e.message : e.cause});
  };
  if (!recording) return unreadable(recording.error());
  recording->database.limit_time(std::chrono::seconds(5));
  auto sessions = named_rows(*recording, schema::page_sql("session_files"), Value{});
  if (!sessions) return unreadable(sessions.error());
  for (const NamedRow& session : *sessions) {
    const std::int64_t at = session.number("start_ns") / 1000000000 * 1000000000;
    rows.push_back({file.path, session.at("command"),
                    session.has("start_ns") ? Value{table::wall_clock(at).substr(0, 19) + "Z"} : Value{},
                    session.at("duration"), session.at("calls"), file.bytes,
                    std::string(session.number("clean") == 1 ? "closed" : state_word(recording->state))});
  }
}

void add_query(Rows& rows, Database& db, const std::string& sql) {
  auto statement = db.prepare(sql);
  while (statement && statement->step().value_or(false)) rows.push_back({statement->value(0), statement->value(1)});
}

}  // namespace

Result<void> list_recordings(Context& context) {
  const std::string directory = context.words.empty() ? "." : context.words[0];
  struct stat s {};
  if (::stat(directory.c_str(), &s) != 0) return fail_errno("cannot read " + directory);
  if (!S_ISDIR(s.st_mode)) return usage(directory + " is not a directory", {}, "fade-query " + directory + " info");
  Rows rows;
  for (const FoundFile& file : recordings_in(directory)) add_sessions(rows, file);
  return print_rows(context, "list",
                    {{"file", Kind::Text},
                     {"command", Kind::Text},
                     {"started", Kind::Text},
                     {"duration_ns", Kind::Duration},
                     {"calls", Kind::Count},
                     {"size_bytes", Kind::Bytes},
                     {"state", Kind::Text}},
                    rows, {}, {"size_bytes", "calls", "started"});
}

Result<void> show_info(Context& context, Recording& recording) {
  Database& db = recording.database;
  struct stat s {};
  ::stat(recording.path.c_str(), &s);
  Rows rows{{std::string("file"), recording.path},
            {std::string("size_bytes"), static_cast<std::int64_t>(s.st_size)},
            {std::string("state"), std::string(state_word(recording.state))}};
  if (!state_text(recording).empty()) rows.push_back({std::string("note"), state_text(recording)});
  add_query(rows, db, "SELECT 'schema', user_version FROM pragma_user_version");
  add_query(rows, db, "SELECT 'page_bytes', page_size FROM pragma_page_size");
  add_query(rows, db, "SELECT key, value FROM meta_ ORDER BY key LIMIT 100");
  // Each session turned on its side.
  for (const char* field : {"kind", "command", "cwd", "host", "kernel", "boot_id", "start_ns", "end_ns", "duration",
                            "boot_ns", "detail", "options", "fade_version", "clean"})
    add_query(rows, db,
              fmt::format("SELECT 'session.' || id || '.{0}', \"{0}\" FROM sessions ORDER BY id LIMIT 100", field));
  add_query(rows, db, "SELECT 'indexes', count(*) FROM sqlite_schema WHERE type = 'index' AND name LIKE 'fade_%'");
  return print_rows(context, "info", {{"property", Kind::Text}, {"value", Kind::Text}}, rows);
}

}  // namespace fade::query
