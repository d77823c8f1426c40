#include "supervisor/run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/event_queue.hpp"
#include "base/log.hpp"
#include "ptrace/launch.hpp"
#include "session/session.hpp"
#include "store/writer.hpp"
#include "supervisor/output_name.hpp"
#include "supervisor/permission.hpp"
#include "supervisor/preparation.hpp"
#include "supervisor/signal_relay.hpp"

namespace fade {
namespace {

constexpr std::int64_t kCostPeriod = 1'000'000'000, kOrphanPeriod = 100'000'000;

// Whatever goes wrong with the database has nothing to do with finding the program.
tl::unexpected<Error> own_failure(Error error) {
  if (error.code != EINVAL) error.code = 0;
  return tl::unexpected(std::move(error));
}

std::string shown_options(const RecordingOptions& options) {
  std::string out = fmt::format("detail={}", static_cast<int>(options.detail));
  for (const auto& event : options.events) out += " -e " + event;
  for (const auto& rule : options.set_rules) out += " --set '" + rule + "'";
  for (const auto& file : options.rule_files) out += " --override-file " + file;
  for (const auto& symbol : options.probe_symbols) out += " --probe " + symbol;
  for (const auto& file : options.probe_files) out += " --probes " + file;
  return out;
}

// One run: owns what must be taken down in order, whatever happened.
class Run {
 public:
  Run(const RunOptions& options, const probes::Overrides& overrides) : options_(options), overrides_(overrides) {}

  Result<RunOutcome> execute(SessionOptions session, OnStarted on_started);

 private:
  Result<void> open_database(pid_t pid);
  void announce_rules();
  void loop(Session& session, const Tracer& tracer, SignalRelay& relay, OnStarted on_started);
  void keep_window(Session& session);
  Result<RunOutcome> end(const Session& session, const LaunchedProgram& program);
  RunSummary summary(const Session& session, const store::Totals& totals) const;

  const RunOptions& options_;
  const probes::Overrides& overrides_;
  SessionClock clock_;
  EventQueue queue_;
  std::unique_ptr<store::Writer> writer_;
  std::string database_;
  pid_t pid_ = 0;
  bool let_go_ = false;
  bool recording_ = true;
};

Result<void> Run::open_database(pid_t pid) {
  const std::string pattern = options_.output.empty() ? std::string(kDefaultOutputName) : options_.output;
  auto name = expand_output_name(pattern, output_name_facts(options_.command[0], pid));
  if (!name) return own_failure(std::move(name.error()));
  database_ = std::move(*name);
  std::error_code ignored;
  auto writer = store::Writer::open(
      {database_, options_.open_mode, options_.max_bytes, options_.on_full, options_.detail, options_.kernel_include,
       options_.kernel_exclude},
      {.cwd = std::filesystem::current_path(ignored).string(), .command = options_.command,
       .options = shown_options(options_), .clock = clock_},
      queue_);
  if (!writer) return own_failure(std::move(writer.error()));
  writer_ = std::move(*writer);
  writer_->start();
  return {};
}

void Run::announce_rules() {
  for (const probes::Rule& rule : overrides_.rules())
    queue_.notice(OverrideRule{rule.id, rule.spec, rule.target, rule.value, rule.origin});
}

// --delay and --duration: what happens outside of the window is not recorded.
void Run::keep_window(Session& session) {
  const std::int64_t now = clock_.now();
  const std::int64_t begin = options_.delay_ns.value_or(0);
  const bool wanted = now >= begin && (!options_.duration_ns || now < begin + *options_.duration_ns);
  if (wanted == recording_) return;
  session.set_recording(recording_ = wanted);
  // After the window a call need not cost anything, unless rules go on being applied.
  if (!wanted && options_.duration_ns && now > begin && overrides_.empty()) session.stop_watching();
}

void Run::loop(Session& session, const Tracer& tracer, SignalRelay& relay, OnStarted on_started) {
  const bool has_window = options_.delay_ns || options_.duration_ns;
  std::int64_t last_costs = 0, last_orphans = 0;
  bool announced = false;
  while (!session.empty()) {
    const Stop stop = tracer.next();
    if (stop.kind == Stop::Kind::Gone) return;
    if (has_window) keep_window(session);
    if (stop.kind != Stop::Kind::None) {
      session.handle(stop);
    }
    const std::int64_t now = clock_.now();
    if (now - last_orphans > kOrphanPeriod) {
      session.release_orphans();
      last_orphans = now;
    }
    if (now - last_costs > kCostPeriod) {
      session.report_costs();
      last_costs = now;
    }
    if (session.started() && !announced) {
      on_started(options_.command[0], pid_, database_);
      announced = true;
    }
    if (session.main_ended()) relay.program_ended();
    if (!relay.let_go_asked()) continue;
    let_go_ = !session.main_ended();
    session.let_go();
  }
}

Result<RunOutcome> Run::execute(SessionOptions session_options, OnStarted on_started) {
  // Before anything of ours could be inherited: threads, handlers, descriptors.
  auto program = LaunchedProgram::fork_waiting(
      {options_.command, changed_environment(options_.environment_changes, environ), options_.directory});
  if (!program) return own_failure(std::move(program.error()));
  ::signal(SIGPIPE, SIG_IGN);
  // No file is touched before it is sure that the program may be traced.
  if (auto seized = Tracer::seize(program->pid(), options_.kill_on_exit); !seized)
    return own_failure(explain_refusal(program->pid(), std::move(seized.error()), "fade-run"));
  if (auto opened = open_database(program->pid()); !opened) return tl::unexpected(std::move(opened.error()));
  auto tracer = Tracer::create();
  if (!tracer) return own_failure(std::move(tracer.error()));
  announce_rules();
  Session session(*tracer, queue_, clock_, overrides_, std::move(session_options));
  if (options_.delay_ns) session.set_recording(recording_ = false);
  session.adopt(pid_ = program->pid());
  SignalRelay relay(program->pid());
  program->release();
  loop(session, *tracer, relay, on_started);
  session.report_costs();
  return end(session, *program);
}

RunSummary Run::summary(const Session& session, const store::Totals& totals) const {
  const Session::Totals seen = session.totals();
  RunSummary out{.database = database_, .duration_ns = clock_.now(), .calls = totals.calls, .errors = totals.errors,
                 .dropped = totals.dropped, .overrides_applied = totals.overrides, .stops = seen.stops,
                 .stopped_ns = seen.stopped_ns, .processes = seen.processes, .threads = seen.threads,
                 .functions_armed = seen.functions_armed, .libraries = seen.libraries,
                 .peak_memory = totals.peak_memory, .notes = seen.notes};
  for (const auto& [name, calls, errors, total_ns] : totals.top) out.top.push_back({name, calls, errors, total_ns});
  for (const std::string& note : overrides_.notes()) out.notes.push_back(note);
  if (!overrides_.empty() && totals.overrides == 0)
    out.notes.push_back("no --set rule was applied: nothing asked for what they set");
  return out;
}

Result<RunOutcome> Run::end(const Session& session, const LaunchedProgram& program) {
  auto totals = writer_->finish();
  if (!session.started() && !let_go_) {
    if (options_.open_mode != OpenMode::Append) std::filesystem::remove(database_);
    auto failure = fail_errno(fmt::format("cannot run '{}'", options_.command[0]), program.exec_errno());
    if (failure.value().code != ENOENT) failure.value().code = failure.value().code ? EACCES : 0;  // found, not executable
    return failure;
  }
  if (!session.main_ended()) let_go_ = true;  // its status is not known
  if (!totals) log::error("{}", totals.error().text());
  return RunOutcome{session.main_status(), session.main_signal(), let_go_,
                    summary(session, totals ? *totals : store::Totals{})};
}

}  // namespace

Result<RunOutcome> run(const RunOptions& options, OnStarted on_started) {
  const auto overrides = read_rules(options);
  if (!overrides) return tl::unexpected(overrides.error());
  const auto chosen = choose_probes(options);
  if (!chosen) return tl::unexpected(chosen.error());
  auto session = session_options(options, *chosen, *overrides);
  if (!session) return tl::unexpected(std::move(session.error()));
  if (auto found = find_program(options.command[0], options.directory); !found)
    return tl::unexpected(std::move(found.error()));
  return Run(options, *overrides).execute(std::move(*session), on_started);
}

Result<std::vector<std::string>> resolved_rules(const RecordingOptions& options) {
  const auto overrides = read_rules(options);
  if (!overrides) return tl::unexpected(overrides.error());
  std::vector<std::string> out;
  for (const probes::Rule& rule : overrides->rules()) out.push_back(overrides->describe(rule));
  for (const std::string& note : overrides->notes()) out.push_back("note: " + note);
  return out;
}

}  // namespace fade
