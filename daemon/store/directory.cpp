#include "store/directory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include <string_view>

#include "probes/vocabulary.hpp"
#include "store/demangle.hpp"
#include "store/wait_book.hpp"

namespace fade::store {
namespace {

std::string dump(const nlohmann::json& json) { return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

std::string json_of(const std::vector<std::pair<std::string, std::string>>& environment) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, value] : environment) out[name] = value;
  return dump(out);
}

// As one would type it again: words with anything unusual in them are quoted.
std::string command_line(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%^";
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) {
      out += word;
      continue;
    }
    out += '\'';
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += '\'';
  }
  return out;
}

std::string argument_names(const probes::Probe& probe) {
  std::string out;
  for (const probes::Parameter& parameter : probe.parameters) out += (out.empty() ? "" : ",") + parameter.name;
  return out;
}

template <class Entry>
Entry& grown(std::vector<Entry>& entries, std::size_t at) {
  if (entries.size() <= at) entries.resize(at + 1);
  return entries[at];
}

}  // namespace

Bases Bases::read(sqlite::Db& db) {
  const auto highest = [&](std::string_view table) {
    return db.integer(fmt::format("SELECT max(id) FROM {}", table)).value_or(0);
  };
  const RowId stored = highest("call_"), used = db.integer("SELECT max(last_call) FROM session_").value_or(0);
  return {std::max(stored, used), highest("process_"), highest("thread_"), highest("module_"),
          highest("function_"), highest("call_site_"), highest("override_"), highest("frame_"), highest("stack_")};
}

Directory::Directory(sqlite::Db& db, Failure& failure, RowId session)
    : session_(session), bases_(Bases::read(db)),
      process_(db, failure,
               "INSERT INTO process_ (id, session, parent, pid, ppid, uid, start_ticks, ts, exe, command, env) VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
      process_exec_(db, failure, "UPDATE process_ SET exe = ?2, command = ?3, env = ?4 WHERE id = ?1"),
      process_end_(db, failure, "UPDATE process_ SET ts_end = ?2, exit_code = ?3, exit_signal = ?4 WHERE id = ?1"),
      thread_(db, failure, "INSERT INTO thread_ (id, process, tid, name, ts) VALUES (?,?,?,?,?)"),
      thread_end_(db, failure, "UPDATE thread_ SET ts_end = ?2, name = coalesce(?3, name) WHERE id = ?1"),
      module_(db, failure,
              "INSERT INTO module_ (id, process, path, soname, build_id, role, version, base, size, sites, ts) VALUES (?,?,?,?,?,?,?,?,?,?,?)"),
      module_end_(db, failure, "UPDATE module_ SET ts_end = ?2 WHERE id = ?1"),
      function_(db, failure, "INSERT INTO function_ VALUES (?,?,?,?,?,?,?,?,?,?)"),
      function_name_(db, failure, "INSERT OR IGNORE INTO function_name_ VALUES (?,?)"),
      site_(db, failure, "INSERT INTO call_site_ VALUES (?,?,?,?,?,?)") {}

void Directory::on(const ProcessStarted& n) {
  ++processes_;
  pids_[process_row(n.process)] = n.pid;
  process_(process_row(n.process), session_, unless(process_row(n.parent), 0), n.pid, n.ppid, n.uid, n.start_ticks, n.at, n.exe,
           command_line(n.command), json_of(n.environment));
}

void Directory::on(const ProcessExec& n) {
  process_exec_(process_row(n.process), n.exe, command_line(n.command), json_of(n.environment));
  for (ThreadEntry& thread : threads_)
    if (thread.process == n.process) thread.device = 0;
}

void Directory::on(const ProcessEnded& n) {
  process_end_(process_row(n.process), n.at, unless(n.exit_code, -1), unless(n.exit_signal, 0));
}

void Directory::on(const ThreadStarted& n) {
  ++thread_count_;
  grown(threads_, n.thread) = {thread_row(n.thread), n.process, 0};
  thread_(thread_row(n.thread), process_row(n.process), n.tid, unless_empty(n.name), n.at);
}

void Directory::on(const ThreadEnded& n) { thread_end_(thread_row(n.thread), n.at, unless_empty(n.name)); }

void Directory::on(const ModuleLoaded& n) {
  module_(module_row(n.module), process_row(n.process), n.path, unless_empty(n.soname), unless_empty(n.build_id), unless_empty(n.role),
          unless_empty(n.version), n.base, n.size, n.sites, n.at);
}

void Directory::on(const ModuleUnloaded& n) { module_end_(module_row(n.module), n.at); }

void Directory::on(const FunctionDefined& n) {
  if (!n.probe) return;
  FunctionEntry& entry = grown(functions_, n.function);
  entry = {function_row(n.function), n.probe, memory_action(*n.probe), n.library_major, 0};
  const probes::Probe& probe = *n.probe;
  entry.is_marker = probe.group == "marker";
  entry.waits = waits(probe);
  entry.names_kernel = probe.with_role(probes::Role::Kernel) != nullptr;
  entry.launch = LaunchWords(probe);
  entry.result = ResultWord::of(probe.result);
  const bool is_void = probe.result.cls == probes::TypeClass::Void;
  function_(entry.row, session_, probe.symbol, probe.api, probe.group, probes::word_for(probe.kind), n.library, argument_names(probe),
            is_void ? "void" : probe.result.name, probe.has_success ? std::optional(probe.success) : std::nullopt);
  for (const std::string& name : n.other_names) function_name_(entry.row, name);
}

void Directory::on(const CallSiteSeen& n) {
  if (site_libraries_.size() <= n.site) site_libraries_.resize(n.site + 1, Libraries::kUnknown);
  site_libraries_[n.site] = libraries_.id(n.library);
  site_(site_row(n.site), process_row(n.process), unless_empty(n.library), n.library.empty() ? std::nullopt : std::optional(n.offset),
        unless_empty(function_place(n.symbol)), n.address);
}

std::string Directory::process_label(RowId row) const {
  const auto found = pids_.find(row);
  return found == pids_.end() ? std::string() : fmt::format("process {}", found->second);
}

const std::string& Directory::function_name(RowId row) const {
  static const std::string kNone;
  const auto id = static_cast<std::size_t>(row - bases_.function);
  return id < functions_.size() && functions_[id].probe ? functions_[id].probe->symbol : kNone;
}

}  // namespace fade::store
