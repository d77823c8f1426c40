#include "cli/ctl/show.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.hpp"
#include "cli/table/formats.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::ctl {
namespace {

Result<void> write(const std::string& text) {
  table::FdBytes bytes(STDOUT_FILENO, "standard output");
  if (auto written = bytes.write(text); !written) return written;
  return bytes.flush();
}

}  // namespace

Result<void> print_json(const ipc::Json& json) {
  return write(json.dump(1, ' ', false, ipc::Json::error_handler_t::replace) + '\n');
}
Result<void> print_line(const std::string& text) { return write(text + '\n'); }

Result<void> print_rows(const Context& context, std::vector<table::Column> columns,
                        const std::vector<std::vector<table::Value>>& rows, std::vector<std::string> leave_first) {
  table::Style style;
  style.terminal = table::look_at_terminal(STDOUT_FILENO, use_color(context.color, STDOUT_FILENO));
  style.leave_first = std::move(leave_first);
  table::FdBytes bytes(STDOUT_FILENO, "standard output");
  const auto sink = table::make_sink(style.terminal.tty ? table::Format::Table : table::Format::Tsv, style, bytes);
  if (auto begun = sink->begin(std::move(columns)); !begun) return begun;
  for (const auto& row : rows)
    if (auto done = sink->row(row); !done) return done;
  if (auto ended = sink->end(); !ended) return ended;
  return bytes.flush();
}

Result<void> print_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string text;
  for (const auto& [label, fact] : facts) text += fmt::format("{:<12} {}\n", label, fact);
  return write(text);
}

recording::Style style_of_stdout(const Context& context) {
  const auto terminal = table::look_at_terminal(STDOUT_FILENO, use_color(context.color, STDOUT_FILENO));
  return {.color = terminal.color, .utf8 = terminal.utf8, .width = terminal.tty ? terminal.width : 0};
}

std::string user_name(std::int64_t uid) {
  const passwd* user = ::getpwuid(static_cast<uid_t>(uid));
  return user != nullptr ? user->pw_name : std::to_string(uid);
}

std::string shown_time(std::int64_t realtime_ns) { return table::wall_clock(realtime_ns).substr(0, 19) + "Z"; }
std::string shown_duration(std::int64_t ns) { return table::human_duration(ns, table::Units::Auto, false); }
std::string shown_bytes(const ipc::Json& json, const char* key) { return table::human_bytes(number_of(json, key)); }
std::string shown_count(const ipc::Json& json, const char* key) { return table::human_count(number_of(json, key)); }
std::string shown_text(const ipc::Json& json, const char* key) {
  return table::printable(ipc::text(json, key).value_or(""));
}
std::int64_t number_of(const ipc::Json& json, const char* key) { return ipc::integer(json, key).value_or(0); }

std::int64_t lasted_ns(const ipc::Json& session) {
  const std::int64_t until = number_of(session, "until_ns");
  return std::max<std::int64_t>(0, (until != 0 ? until : realtime_ns()) - number_of(session, "since_ns"));
}

bool has_counts(const ipc::Json& session) { return number_of(session, "elapsed_ns") > 0; }

std::string path_of(const ipc::Json& session) {
  return shown_text(session, "folder") + "/" + shown_text(session, "database");
}

}  // namespace fade::cli::ctl
