// status, list, show, attach, stop, pause, resume, mark, tail, reload.
#include <fmt/format.h>
#include <signal.h>

#include <limits>

#include "base/log.hpp"
#include "cli/ctl/show.hpp"
#include "cli/handover/handover.hpp"
#include "cli/table/human.hpp"
#include "cli/table/text.hpp"

namespace fade::cli::ctl {
namespace {

using ipc::Json;
using table::Kind;

Result<void> no_words(const Context& context) {
  if (context.words.empty()) return {};
  return usage_error("unexpected argument '" + context.words.front() + "'");
}

Result<std::uint64_t> one_id(const Context& context) {
  if (context.words.size() != 1) return usage_error("one session's number is needed", "fadectl list");
  return number_word(context.words.front(), "the number of a session");
}

// No number is better than a 0 that nobody counted.
table::Value told_count(const Json& session, const char* key) {
  return has_counts(session) ? number_of(session, key) : table::Value{};
}

std::string counts_of(const Json& session) {
  if (!has_counts(session)) return "not known" + std::string(ipc::text(session, "state") == "unknown" ? "" : " yet");
  return fmt::format("{}, {} errors, {} dropped", shown_count(session, "calls"), shown_count(session, "errors"),
                     shown_count(session, "dropped"));
}

std::vector<table::Value> row_of(const Json& session) {
  return {number_of(session, "id"),
          user_name(number_of(session, "uid")),
          number_of(session, "pid"),
          ipc::text(session, "program").value_or(""),
          ipc::text(session, "state").value_or(""),
          has_counts(session) ? lasted_ns(session) : table::Value{},
          told_count(session, "calls"),
          told_count(session, "errors"),
          told_count(session, "dropped"),
          told_count(session, "memory_bytes"),
          ipc::text(session, "folder").value_or("") + "/" + ipc::text(session, "database").value_or("")};
}

std::string live_line(const Json& event) {
  const Json* found = ipc::member(event, "session");
  const Json session = found != nullptr ? *found : Json::object();
  return fmt::format("{:>4} {:<10} {} (pid {})  {}  {} calls ({}/s)  mem {}  err {}  db {}", number_of(session, "id"),
                     shown_text(event, "what"), shown_text(session, "program"), number_of(session, "pid"),
                     shown_duration(number_of(session, "elapsed_ns")), shown_count(session, "calls"),
                     shown_count(session, "calls_per_second"), shown_bytes(session, "memory_bytes"),
                     number_of(session, "errors"), shown_bytes(session, "database_bytes"));
}

void say_ended(const Json& session) {
  log::info("session {}: {}; {} calls, {} errors\n  next:  fade-query {} summary", number_of(session, "id"),
            shown_text(session, "ending"), shown_count(session, "calls"), shown_count(session, "errors"),
            path_of(session));
}

Result<std::vector<std::uint64_t>> ids_to_stop(const Context& context) {
  std::vector<std::uint64_t> ids;
  for (const std::string& word : context.words) {
    auto id = number_word(word, "the number of a session");
    if (!id) return tl::unexpected(std::move(id.error()));
    ids.push_back(*id);
  }
  if (context.settings.all != ids.empty())
    return usage_error("stop which sessions?", "fadectl stop ID, or: fadectl stop --all");
  if (!context.settings.all) return ids;
  const auto answer = ask(context, "list", Json::object());
  if (!answer) return tl::unexpected(answer.error());
  const Json* sessions = ipc::member(*answer, "sessions");
  for (const Json& session : sessions != nullptr ? *sessions : Json::array())
    if (number_of(session, "until_ns") == 0) ids.push_back(static_cast<std::uint64_t>(number_of(session, "id")));
  return ids;
}

}  // namespace

Result<void> show_status(Context& context) {
  if (auto none = no_words(context); !none) return none;
  const auto s = ask(context, "status", Json::object());
  if (!s) return tl::unexpected(s.error());
  if (context.settings.json) return print_json(*s);
  return print_facts(
      {{"faded", fmt::format("{} (pid {}, {}), since {}", shown_text(*s, "version"), number_of(*s, "pid"),
                             user_name(number_of(*s, "uid")), shown_time(number_of(*s, "since_ns")))},
       {"socket", shown_text(*s, "socket")},
       {"state", shown_text(*s, "state_dir")},
       {"sessions",
        fmt::format("{} running, {} kept; at most {}, {} of a user", number_of(*s, "running"), number_of(*s, "kept"),
                    number_of(*s, "most_sessions"), number_of(*s, "most_sessions_per_user"))},
       {"calls", shown_count(*s, "calls_per_second") + " a second"},
       {"dropped", shown_count(*s, "dropped")},
       {"recordings", shown_bytes(*s, "bytes")},
       {"watches", std::to_string(number_of(*s, "watches"))}});
}

Result<void> list_sessions(Context& context) {
  if (auto none = no_words(context); !none) return none;
  const auto answer = ask(context, "list", Json::object());
  if (!answer) return tl::unexpected(answer.error());
  const Json* found = ipc::member(*answer, "sessions");
  const Json sessions = found != nullptr ? *found : Json::array();
  if (context.settings.json) return print_json(sessions);
  std::vector<std::vector<table::Value>> rows;
  for (const Json& session : sessions) rows.push_back(row_of(session));
  return print_rows(context,
                    {{"id", Kind::Id},
                     {"user", Kind::Text},
                     {"pid", Kind::Id},
                     {"program", Kind::Text},
                     {"state", Kind::Text},
                     {"duration_ns", Kind::Duration},
                     {"calls", Kind::Count},
                     {"errors", Kind::Count},
                     {"dropped", Kind::Count},
                     {"memory_bytes", Kind::Bytes},
                     {"database", Kind::Text}},
                    rows, {"dropped", "memory_bytes", "user"});
}

Result<void> show_session(Context& context) {
  const auto id = one_id(context);
  if (!id) return tl::unexpected(id.error());
  const auto s = ask(context, "show", {{"id", *id}});
  if (!s) return tl::unexpected(s.error());
  if (context.settings.json) return print_json(*s);
  std::vector<std::pair<std::string, std::string>> facts{
      {"session", fmt::format("{} ({}), by {} through {}", *id, shown_text(*s, "state"),
                              user_name(number_of(*s, "uid")), shown_text(*s, "via"))},
      {"program", fmt::format("{} (pid {})", shown_text(*s, "program"), number_of(*s, "pid"))},
      {"since", fmt::format("{}, {}", shown_time(number_of(*s, "since_ns")), shown_duration(lasted_ns(*s)))},
      {"calls", counts_of(*s)},
      {"memory", fmt::format("{}, at most {}", shown_bytes(*s, "memory_bytes"), shown_bytes(*s, "peak_bytes"))},
      {"held",
       fmt::format("{} threads, median {}, worst {}", number_of(*s, "threads"),
                   shown_duration(number_of(*s, "held_median_ns")), shown_duration(number_of(*s, "held_worst_ns")))},
      {"worker", std::to_string(number_of(*s, "worker"))},
      {"database", path_of(*s)}};
  if (const std::string ending = shown_text(*s, "ending"); !ending.empty()) facts.emplace_back("ending", ending);
  for (const std::string& note : ipc::texts(*s, "notes").value_or(std::vector<std::string>{}))
    facts.emplace_back("note", table::printable(note));
  return print_facts(facts);
}

Result<void> attach_processes(Context& context) {
  if (context.words.empty()) return usage_error("no process given", "fadectl attach PID");
  Json sessions = Json::array();
  for (const std::string& word : context.words) {
    const auto pid = number_word(word, "a process id");
    if (!pid) return tl::unexpected(pid.error());
    if (*pid > std::numeric_limits<pid_t>::max()) return usage_error("'" + word + "' is not a process id");
    auto s = handover::attach(
        {context.settings.socket, Pid::of(static_cast<pid_t>(*pid)), {}, recording_json(context.settings)});
    if (!s) return tl::unexpected(std::move(s.error()));
    handover::say_session(*s);
    if (!context.settings.json)
      if (auto printed = print_line(std::to_string(number_of(*s, "id"))); !printed) return printed;
    sessions.push_back(std::move(*s));
  }
  return context.settings.json ? print_json(sessions) : Result<void>{};
}

Result<void> stop_sessions(Context& context) {
  const auto ids = ids_to_stop(context);
  if (!ids) return tl::unexpected(ids.error());
  Json sessions = Json::array();
  for (const std::uint64_t id : *ids) {
    auto session = ask(context, "stop", {{"id", id}});
    if (!session) return tl::unexpected(std::move(session.error()));
    say_ended(*session);
    sessions.push_back(std::move(*session));
  }
  return context.settings.json ? print_json(sessions) : Result<void>{};
}

Result<void> pause_session(Context& context) {
  const auto id = one_id(context);
  if (!id) return tl::unexpected(id.error());
  const auto session = ask(context, "pause", {{"id", *id}});
  if (!session) return tl::unexpected(session.error());
  return context.settings.json ? print_json(*session) : Result<void>{};
}

Result<void> resume_session(Context& context) {
  const auto id = one_id(context);
  if (!id) return tl::unexpected(id.error());
  const auto session = ask(context, "resume", {{"id", *id}});
  if (!session) return tl::unexpected(session.error());
  return context.settings.json ? print_json(*session) : Result<void>{};
}

Result<void> mark_session(Context& context) {
  const auto id = one_id(context);
  if (!id) return tl::unexpected(id.error());
  const auto session = ask(context, "mark", {{"id", *id}});
  if (!session) return tl::unexpected(session.error());
  return context.settings.json ? print_json(*session) : Result<void>{};
}

Result<void> tail_sessions(Context& context) {
  Json params = Json::object();
  if (!context.words.empty()) {
    const auto id = one_id(context);
    if (!id) return tl::unexpected(id.error());
    params["id"] = *id;
  }
  auto client = connect(context);
  if (!client) return tl::unexpected(std::move(client.error()));
  ::signal(SIGPIPE, SIG_IGN);  // `fadectl tail | head` ends by the error of the write
  Result<void> printed;
  const auto end = client->stream("tail", params, [&](const Json& event) {
    printed = print_line(context.settings.json ? ipc::to_text(event) : live_line(event));
    return printed.has_value();
  });
  if (!printed) return printed;
  return end ? Result<void>{} : tl::unexpected(end.error());
}

Result<void> reload_daemon(Context& context) {
  if (auto none = no_words(context); !none) return none;
  const auto done = ask(context, "reload", Json::object());
  return done ? Result<void>{} : tl::unexpected(done.error());
}

}  // namespace fade::cli::ctl
