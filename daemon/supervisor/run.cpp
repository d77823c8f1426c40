#include "supervisor/run.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.hpp"
#include "ptrace/launch.hpp"
#include "session/session.hpp"
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

// One run: owns what must be taken down in order, whatever happened.
class Run {
 public:
  Run(const RunOptions& options, const probes::Overrides& overrides) : options_(options), recording_(options, overrides), overrides_(overrides) {}

  Result<RunOutcome> execute(SessionOptions session, OnStarted on_started);

 private:
  void loop(Session& session, const Tracer& tracer, SignalRelay& relay, OnStarted on_started);
  Result<RunOutcome> end(Session& session, const LaunchedProgram& program, const SignalRelay& relay);

  const RunOptions& options_;
  Recording recording_;
  const probes::Overrides& overrides_;
  pid_t pid_ = 0;
  bool let_go_ = false;
};

void Run::loop(Session& session, const Tracer& tracer, SignalRelay& relay, OnStarted on_started) {
  bool announced = false;
  while (!session.empty()) {
    const Stop stop = tracer.next();
    if (stop.kind == Stop::Kind::Gone) return;
    if (stop.kind != Stop::Kind::None) session.handle(stop);
    recording_.now_and_then(session);  // may have threads stop, so not while a stop waits to be handled
    if (session.started() && !announced) {
      on_started(options_.command[0], pid_, recording_.database());
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
  if (auto opened = recording_.open("run", options_.command, program->pid()); !opened) return own_failure(std::move(opened.error()));
  auto tracer = Tracer::create();
  if (!tracer) return own_failure(std::move(tracer.error()));
  Session session(*tracer, recording_.sink(), recording_.clock(), overrides_, std::move(session_options));
  recording_.begin(session);
  session.adopt(pid_ = program->pid());
  SignalRelay relay(program->pid());
  program->release();
  loop(session, *tracer, relay, on_started);
  return end(session, *program, relay);
}

Result<RunOutcome> Run::end(Session& session, const LaunchedProgram& program, const SignalRelay& relay) {
  if (!session.started() && !let_go_) {
    recording_.discard();
    auto failure = fail_errno(fmt::format("cannot run '{}'", options_.command[0]), program.exec_errno());
    if (failure.value().code != ENOENT) failure.value().code = failure.value().code ? EACCES : 0;  // found, not executable
    return failure;
  }
  if (!session.main_ended()) let_go_ = true;  // its status is not known
  return RunOutcome{session.main_status(), session.main_signal(), let_go_, relay.interrupted(), recording_.finish(session)};
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
