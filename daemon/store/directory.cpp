#include "store/directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/demangle.hpp"
#include "base/glob.hpp"
#include "base/secrets.hpp"
#include "probes/vocabulary.hpp"
#include "store/wait_book.hpp"

namespace fade::store {
namespace {

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_of(const std::vector<std::pair<std::string, std::string>>& environment) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, value] : environment) out[name] = value;
  return dump(out);
}

// As one would type it again: words with anything unusual in them are quoted. Secrets in it are redacted.
std::string command_line(const std::vector<std::string>& all) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%^";
  std::string out;
  for (const std::string& word : without_secrets(all)) {
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

constexpr std::string_view kPython = "Python (ctypes)";
constexpr std::array<std::string_view, 5> kBridges{"libffi", "_ctypes", "_cffi_backend", "libpython", "python"};

// True for libraries that Python calls C functions through: every call of a Python program would seem to come from
// them.
bool is_bridge(std::string_view library) {
  std::string_view name = base_name(library);
  name = name.substr(0, name.find('.'));
  if (name.starts_with("libffi-")) return true;  // as wheels name their copy
  const std::size_t last = name.find_last_not_of("0123456789");
  name = name.substr(0, last == name.npos ? 0 : last + 1);
  return std::find(kBridges.begin(), kBridges.end(), name) != kBridges.end();
}

template <class Entry>
Entry& grown(std::vector<Entry>& entries, std::size_t at) {
  if (entries.size() <= at) entries.resize(at + 1);
  return entries[at];
}

}  // namespace

Bases Bases::read(sqlite::Db& db) {
  const auto used = CallRow::of(db.integer("SELECT max(last_call) FROM session_").value_or(0));
  return {.call = std::max(last_row<CallRow>(db, "call_"), used),
          .process = last_row<ProcessRow>(db, "process_"),
          .thread = last_row<ThreadRow>(db, "thread_"),
          .module = last_row<ModuleRow>(db, "module_"),
          .function = last_row<FunctionRow>(db, "function_"),
          .site = last_row<SiteRow>(db, "call_site_"),
          .rule = last_row<RuleRow>(db, "override_"),
          .frame = last_row<FrameRow>(db, "frame_"),
          .stack = last_row<StackRow>(db, "stack_")};
}

Directory::Tables::Tables(sqlite::Db& db, Failure& failure)
    : process(db, failure,
              "INSERT INTO process_ (id, session, parent, pid, ppid, uid, start_ticks, ts, exe, command, env) VALUES "
              "(?,?,?,?,?,?,?,?,?,?,?)"),
      process_exec(db, failure, "UPDATE process_ SET exe = ?2, command = ?3, env = ?4 WHERE id = ?1"),
      process_end(db, failure, "UPDATE process_ SET ts_end = ?2, exit_code = ?3, exit_signal = ?4 WHERE id = ?1"),
      thread(db, failure, "INSERT INTO thread_ (id, process, tid, name, ts) VALUES (?,?,?,?,?)"),
      thread_end(db, failure, "UPDATE thread_ SET ts_end = ?2, name = coalesce(?3, name) WHERE id = ?1"),
      module(db, failure,
             "INSERT INTO module_ (id, process, path, soname, build_id, role, version, base, size, sites, ts) VALUES "
             "(?,?,?,?,?,?,?,?,?,?,?)"),
      module_end(db, failure, "UPDATE module_ SET ts_end = ?2 WHERE id = ?1"),
      function(db, failure, "INSERT INTO function_ VALUES (?,?,?,?,?,?,?,?,?,?)"),
      function_name(db, failure, "INSERT OR IGNORE INTO function_name_ VALUES (?,?)"),
      site(db, failure, "INSERT INTO call_site_ VALUES (?,?,?,?,?,?)") {}

Directory::Directory(sqlite::Db& db, Failure& failure, SessionRow session, const DetailLevels& levels)
    : session_(session), levels_(levels), bases_(Bases::read(db)), rules_(db, failure), tables_(db, failure) {}

void Directory::on(const ProcessStarted& n) {
  ++processes_;
  pids_[process_row(n.process)] = n.pid;
  tables_.process(process_row(n.process), session_, unless(process_row(n.parent), 0), n.pid, n.ppid, n.uid,
                  n.start_ticks, n.at, n.exe, command_line(n.command), json_of(n.environment));
}

void Directory::on(const ProcessExec& n) {
  tables_.process_exec(process_row(n.process), n.exe, command_line(n.command), json_of(n.environment));
  for (ThreadEntry& thread : threads_)
    if (thread.process == n.process) thread.device = n.device;
}

void Directory::on(const ProcessEnded& n) {
  tables_.process_end(process_row(n.process), n.at, unless(n.exit_code, -1), unless(n.exit_signal, 0));
}

void Directory::on(const ThreadStarted& n) {
  ++thread_count_;
  grown(threads_, n.thread.value()) = {.row = thread_row(n.thread), .process = n.process, .device = n.device};
  tables_.thread(thread_row(n.thread), process_row(n.process), n.tid, unless_empty(n.name), n.at);
}

void Directory::on(const ThreadEnded& n) { tables_.thread_end(thread_row(n.thread), n.at, unless_empty(n.name)); }

void Directory::on(const ModuleLoaded& n) {
  tables_.module(module_row(n.module), process_row(n.process), n.path, unless_empty(n.soname), unless_empty(n.build_id),
                 unless_empty(n.role), unless_empty(n.version), n.base, n.size, n.sites, n.at);
}

void Directory::on(const ModuleUnloaded& n) { tables_.module_end(module_row(n.module), n.at); }

// The C++ export of a function of C is that function: _Z24hipExtModuleLaunchKernelP... of hipExtModuleLaunchKernel.
std::string plain_name(const std::string& symbol) {
  std::size_t length = 0, at = 2;
  if (!symbol.starts_with("_Z")) return symbol;
  for (; at < symbol.size() && symbol[at] >= '0' && symbol[at] <= '9' && length < symbol.size(); ++at)
    length = length * 10 + static_cast<std::size_t>(symbol[at] - '0');
  return length == 0 || at + length > symbol.size() ? symbol : symbol.substr(at, length);
}

void Directory::on(const FunctionDefined& n) {
  if (!n.probe) return;
  FunctionEntry& entry = grown(functions_, n.function.value());
  const std::string name = plain_name(n.probe->symbol);
  const auto [same, is_new] = function_rows_.try_emplace({name, n.library}, function_row(n.function));
  entry = {.row = same->second,
           .probe = n.probe,
           .name = name,
           .memory = n.probe->memory_action(),
           .detail = levels_.of(n.probe->api, n.probe->group),
           .library_major = n.library_major};
  const probes::Probe& probe = *n.probe;
  entry.family = call_family(probe);
  entry.is_marker = probe.group == "marker";
  entry.hsa = probes::hsa_call(probe);
  entry.waits = waits(probe);
  entry.is_only_summed = probes::is_only_summed(probe);
  entry.names_kernel = probe.with_role(probes::Role::Kernel) != nullptr;
  entry.launch = LaunchWords(probe);
  entry.copy = CopyWords(probe);
  entry.result = ResultWord::of(probe.result);
  entry.normal = rules_.normal(probe.symbol);
  const bool is_void = probe.result.cls == probes::TypeClass::Void;
  if (name != probe.symbol) tables_.function_name(entry.row, probe.symbol);
  for (const std::string& other : n.other_names) tables_.function_name(entry.row, other);
  if (!is_new) return;
  tables_.function(entry.row, session_, name, probe.api, probe.group, probes::word_for(probe.kind), n.library,
                   argument_names(probe), is_void ? "void" : probe.result.name,
                   probe.has_success ? std::optional(probe.success) : std::nullopt);
}

void Directory::on(const CallSiteSeen& n) {
  if (site_libraries_.size() <= n.site.value()) site_libraries_.resize(n.site.value() + 1, Libraries::kUnknown);
  const bool bridge = is_bridge(n.library);
  const std::string library = bridge ? std::string(kPython) : n.library,
                    symbol = bridge ? library : function_place(n.symbol);
  site_libraries_[n.site.value()] = libraries_.id(library);
  tables_.site(site_row(n.site), process_row(n.process), unless_empty(library),
               library.empty() ? std::nullopt : std::optional(n.offset), unless_empty(symbol), n.address);
}

std::string Directory::process_label(ProcessRow row) const {
  const auto found = pids_.find(row);
  return found == pids_.end() ? std::string() : fmt::format("process {}", found->second);
}

const std::string& Directory::function_name(FunctionRow row) const {
  static const std::string kNone;
  const auto id = static_cast<std::size_t>(row.value() - bases_.function.value());
  return id < functions_.size() && functions_[id].probe ? functions_[id].name : kNone;
}

}  // namespace fade::store
