#include "supervisor/run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <sstream>
#include <utility>

#include "base/log.hpp"
#include "base/own_memory.hpp"
#include "ptrace/launch.hpp"
#include "session/session.hpp"
#include "supervisor/budget.hpp"
#include "supervisor/coverage_plan.hpp"
#include "supervisor/ignored_signals.hpp"
#include "supervisor/job_control.hpp"
#include "supervisor/permission.hpp"
#include "supervisor/preparation.hpp"
#include "supervisor/recording.hpp"
#include "supervisor/signal_relay.hpp"

namespace fade {
namespace {

// Whatever goes wrong with the database has nothing to do with finding the program.
tl::unexpected<Error> own_failure(Error error) {
  if (error.code != EINVAL) error.code = 0;
  return tl::unexpected(std::move(error));
}

// `program` was found before, so ENOENT means its interpreter or loader; 0: it ended before its exec could report.
tl::unexpected<Error> why_not_run(const std::string& program, int exec_errno) {
  const std::string doing = fmt::format("cannot run '{}'", program);
  if (exec_errno != ENOENT) return fail(doing, std::strerror(exec_errno), {}, exec_errno ? EACCES : 0);
  return fail(doing, "the file is there, but not the interpreter (#!) or the dynamic loader that it names",
              "head -n 1 FILE shows a script's, readelf -l FILE a program's", ENOENT);
}

// One run: owns the parts that must be taken down in order, whatever happened.
class Run {
 public:
  Run(const RunOptions& options, const probes::Overrides& overrides, Coverage coverage)
      : options_(options), recording_(options, overrides, std::move(coverage)), overrides_(overrides) {}

  Result<RunOutcome> execute(SessionOptions session, const OnStarted& on_started);

 private:
  void loop(Session& session, SignalRelay& relay, const OnStarted& on_started);
  Result<RunOutcome> end(Session& session, const LaunchedProgram& program, const SignalRelay& relay);
  void stop_with(const Session& session, const JobControl& job);

  const RunOptions& options_;
  Recording recording_;
  const probes::Overrides& overrides_;
  Pid pid_ = 0;
  bool let_go_ = false;
  bool stopped_for_program_ = false;  // once for each of its stops
};

// The shell waits for us in the program's place.
void Run::stop_with(const Session& session, const JobControl& job) {
  const bool is_stopped = session.main_stopped();
  if (job.stop_asked() && (is_stopped || session.main_ended())) job.stop();
  else if (is_stopped && !std::exchange(stopped_for_program_, true) && JobControl::has_terminal(pid_))
    JobControl::stop_for(pid_);
}

void Run::loop(Session& session, SignalRelay& relay, const OnStarted& on_started) {
  const JobControl job;
  bool announced = false;
  while (!session.empty()) {
    const Stop stop = session.next();
    if (stop.kind == Stop::Kind::Gone) return;
    const std::int64_t now = stop.kind != Stop::Kind::None ? session.handle(stop) : recording_.clock().now();
    if (stopped_for_program_ && !session.main_stopped()) stopped_for_program_ = false;
    if (stop.kind == Stop::Kind::None || stop.kind == Stop::Kind::Group) stop_with(session, job);
    recording_.now_and_then(session, now);  // may have threads stop, so not while a stop waits to be handled
    if (session.started() && !announced) {
      on_started(options_.command[0], pid_, recording_.database());
      announced = true;
    }
    if (session.main_ended()) relay.program_ended();
    if (!relay.let_go_asked() && !recording_.runs_short()) continue;
    let_go_ = !session.main_ended();
    session.let_go();
  }
}

Result<RunOutcome> Run::execute(SessionOptions session_options, const OnStarted& on_started) {
  // Before anything of ours could be inherited: threads, handlers, descriptors.
  auto program = LaunchedProgram::fork_waiting({options_.command, environment_of(options_), options_.directory});
  if (!program) return own_failure(std::move(program.error()));
  const SignalWitness witness(program->pid(), options_.command);
  for (const int signal : kIgnoredSignals) ::signal(signal, SIG_IGN);
  if (auto enough = own_memory::check(); !enough) return own_failure(std::move(enough.error()));
  // No file is touched before it is sure that the program may be traced.
  if (auto seized = Tracer::seize(leader_of(program->pid()), options_.kill_on_exit); !seized)
    return own_failure(explain_refusal(program->pid(), std::move(seized.error()), "fade-run"));
  if (auto opened = recording_.open("run", options_.command, program->pid()); !opened)
    return own_failure(std::move(opened.error()));
  auto tracer = Tracer::create(recording_.tick());
  if (!tracer) return own_failure(std::move(tracer.error()));
  Session session(*tracer, recording_.sink(), recording_.clock(), overrides_, std::move(session_options));
  recording_.begin(session, *tracer);
  session.adopt(pid_ = program->pid());
  SignalRelay relay(program->pid(), witness);
  program->release();
  loop(session, relay, on_started);
  return end(session, *program, relay);
}

Result<RunOutcome> Run::end(Session& session, const LaunchedProgram& program, const SignalRelay& relay) {
  if (!session.started() && !let_go_) {
    recording_.discard();
    return why_not_run(options_.command[0], program.exec_errno());
  }
  if (!session.main_ended()) let_go_ = true;  // its status is not known
  return RunOutcome{session.main_status(), session.main_signal(), let_go_, relay.interrupted(),
                    recording_.finish(session)};
}

}  // namespace

Result<RunOutcome> run(const RunOptions& options, const OnStarted& on_started) {
  const auto overrides = read_rules(options);
  if (!overrides) return tl::unexpected(overrides.error());
  const auto chosen = choose_probes(options);
  if (!chosen) return tl::unexpected(chosen.error());
  auto session = session_options(options, *chosen, *overrides);
  if (!session) return tl::unexpected(std::move(session.error()));
  const auto engine = engine_for(options.engine, CaptureEngine::Auto, session->budget);
  if (!engine) return tl::unexpected(engine.error());
  session->engine = *engine;
  if (auto found = find_program(options.command[0], options.directory); !found)
    return tl::unexpected(std::move(found.error()));
  return Run(options, *overrides, coverage_of(options, *chosen, session->wishes))
      .execute(std::move(*session), on_started);
}

Result<std::vector<std::string>> resolved_rules(const RecordingOptions& options) {
  const auto overrides = read_rules(options);
  if (!overrides) return tl::unexpected(overrides.error());
  std::vector<std::string> out;
  for (const probes::Rule& rule : overrides->rules()) {
    std::istringstream lines(overrides->describe(rule));
    for (std::string line; std::getline(lines, line);) out.push_back(line);
  }
  for (const std::string& note : overrides->notes()) out.push_back("note: " + note);
  const auto chosen = choose_probes(options);
  if (!chosen) return tl::unexpected(chosen.error());
  for (std::string& line : chosen->injections.describe()) out.push_back(std::move(line));
  return out;
}

}  // namespace fade
