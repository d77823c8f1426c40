#include "session/action_runner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "base/glob.hpp"
#include "base/output_file.hpp"
#include "base/signal_name.hpp"
#include "probes/decode.hpp"
#include "session/argument_reader.hpp"
#include "session/side_command.hpp"

namespace fade {
namespace {

constexpr std::size_t kMostStepThreads = 100'000;
constexpr std::uint64_t kMostDumped = std::uint64_t{4} << 30;  // of all files of a session

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

std::string without_quotes(std::string text) {
  return text.size() > 1 && text.starts_with('"') && text.ends_with('"') ? text.substr(1, text.size() - 2) : text;
}

// An integer as its type has it.
double as_number(const probes::Type& type, std::uint64_t word) {
  const bool is_signed = type.cls == probes::TypeClass::Signed || type.cls == probes::TypeClass::Enum;
  if (is_signed && type.size == 4) return static_cast<std::int32_t>(word);
  if (is_signed && type.size == 8) return static_cast<double>(static_cast<std::int64_t>(word));
  return static_cast<double>(type.size == 4 ? static_cast<std::uint32_t>(word) : word);
}

// The facts of a call that has returned. Values are worked out when one is asked for.
class CallFacts final : public actions::Facts {
 public:
  CallFacts(const Thread& thread, const Entry& entry, const OpenCall& call, std::optional<double> step)
      : thread_(thread), entry_(entry), call_(call), step_(step) {}

  actions::Fact of(const std::string& name) const override {
    const probes::Probe& probe = *entry_.probe;
    const CallRecord& record = call_.record;
    if (name == "result") return {as_number(probe.result, record.result), result_text()};
    if (name == "duration") return {static_cast<double>(record.exit_ns - record.entry_ns), std::nullopt};
    if (name == "failed") return {record.flags & kFailed ? 1.0 : 0.0, std::nullopt};
    if (name == "caller") return {std::nullopt, caller()};
    if (name == "thread") return {static_cast<double>(thread_.tid.value()), thread_.name};
    if (name == "step") return {step_, std::nullopt};
    if (name == "device" && !parameter(name))
      return {thread_.device == kUnknownDevice ? std::nullopt : std::optional<double>(thread_.device), std::nullopt};
    return argument_named(name);
  }
  const probes::Parameter* parameter(const std::string& name) const {
    const auto& all = entry_.probe->parameters;
    const auto found = std::ranges::find(all, name, &probes::Parameter::name);
    return found == all.end() ? nullptr : &*found;
  }
  std::string result_text() const {
    return probes::result_text(*entry_.probe, call_.record.result, entry_.library_major);
  }

 private:
  std::string caller() const {
    const auto& sites = thread_.inferior->program->call_sites;
    const auto site = sites.find(call_.return_address);
    return site == sites.end() ? std::string() : std::string(base_name(site->second.library));
  }
  // A pointer to memory that is read has the value behind it.
  actions::Fact argument_named(const std::string& name) const {
    const probes::Parameter* const found = parameter(name);
    if (!found) return {};
    actions::Fact out;
    for (const probes::Value& value : values())
      if (value.name == name && !value.unreadable) out.text = without_quotes(value.text);
    using probes::TypeClass;
    const bool is_in_text = found->pointee.cls != TypeClass::Void || found->type.cls == TypeClass::Float ||
                            found->type.cls == TypeClass::Double;
    if (is_in_text) out.number = out.text ? number_in(*out.text) : std::nullopt;
    else if (found->type.cls != TypeClass::CString)
      out.number = as_number(found->type, argument(*entry_.probe, *found, call_));
    return out;
  }
  const std::vector<probes::Value>& values() const {
    if (!values_) values_ = probes::decode(*entry_.probe, call_.record, call_.payload, entry_.library_major);
    return *values_;
  }

  const Thread& thread_;
  const Entry& entry_;
  const OpenCall& call_;
  const std::optional<double> step_;
  mutable std::optional<std::vector<probes::Value>> values_;
};

// Copies memory of the thread's process into a file. Returns the number of bytes.
Result<std::uint64_t> copy_out(const Thread& thread, RemoteAddr from, std::uint64_t bytes, const Fd& file) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(bytes, 1 << 20));
  std::uint64_t done = 0;
  while (done < bytes) {
    const auto into = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), bytes - done));
    const std::size_t got = thread.memory().read(from + done, into);
    for (std::size_t at = 0; at < got;) {
      const ssize_t written = ::write(file.get(), buffer.data() + at, got - at);
      if (written < 0 && errno != EINTR) return fail_errno("cannot write");
      at += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    }
    done += got;
    if (got < into.size()) break;
  }
  return done;
}

}  // namespace

void ActionRunner::begin() const {
  for (const State& state : rules_) sink_.notice(ActionRule{state.rule.number, state.rule.spec, state.rule.origin});
}

void ActionRunner::at_return(Thread& thread, const Entry& entry, const Registers& registers, OpenCall& call) {
  if (entry.needs.step) count_step(thread, entry, call);
  if (entry.needs.actions.empty()) return;
  const CallFacts facts(thread, entry, call, step_of(thread));
  Hit hit{thread, entry, registers, call};
  for (const std::uint16_t index : entry.needs.actions)
    if (State& state = rules_[index]; !state.is_at_limit && state.rule.condition.holds(facts)) run(state, hit, facts);
}

// ---------------------------------------------------------------- steps

void ActionRunner::count_step(const Thread& thread, const Entry& entry, const OpenCall& call) {
  if (step_.by == StepRule::By::Range) {
    const probes::Parameter* const name = entry.probe->with_role(probes::Role::RangeName);
    const auto text = name ? probes::string_argument(*entry.probe, *name, call.record, call.payload) : std::nullopt;
    if (!text || !glob_match(step_.pattern, *text)) return;
  }
  if (steps_.size() >= kMostStepThreads && !steps_.contains(thread.id)) return;
  Steps& steps = steps_[thread.id];
  if (steps.calls++ % step_.every != 0) return;
  newest_step_[thread.inferior->id] = ++steps.steps;
}

// Of the thread, else the newest of its process.
std::optional<double> ActionRunner::step_of(const Thread& thread) const {
  if (const auto own = steps_.find(thread.id); own != steps_.end()) return static_cast<double>(own->second.steps);
  const auto newest = newest_step_.find(thread.inferior->id);
  return newest == newest_step_.end() ? std::nullopt : std::optional(static_cast<double>(newest->second));
}

// ---------------------------------------------------------------- actions

void ActionRunner::run(State& state, Hit& hit, const actions::Facts& facts) {
  ++state.done;
  const StackId before = hit.call.record.stack;
  Outcome outcome = act(state, hit, facts);
  ++(outcome.has_failed ? failed_ : done_);
  const StackId stack = hit.call.record.stack != before || state.rule.action.kind == actions::Action::Kind::Stack
                            ? hit.call.record.stack
                            : StackId(0);
  tell(state, hit, std::string(actions::name_of(state.rule.action.kind)), std::move(outcome), stack);
  if (state.done < state.rule.limit) return;
  state.is_at_limit = true;
  tell(state, hit, "limit", {fmt::format("the rule has done its work {} times", state.done)}, 0);
}

ActionRunner::Outcome ActionRunner::act(const State& state, Hit& hit, const actions::Facts& facts) {
  const actions::Action& action = state.rule.action;
  switch (action.kind) {
    case actions::Action::Kind::Snapshot: wants_snapshot_ = true; return {};
    case actions::Action::Kind::Stack:
      if (stack_of(hit) == 0) return {"there is no stack: --stacks off, or none can be read", true};
      return {};
    case actions::Action::Kind::Dump: return dump(state, hit, facts);
    case actions::Action::Kind::Mark:
      sink_.notice(Lifecycle{clock_.now(), hit.thread.inferior->id, hit.thread.id, "mark", 0, action.argument});
      return {action.argument};
    case actions::Action::Kind::Signal: return send_signal(hit, action.signal);
    case actions::Action::Kind::Stop: return stop(hit);
    case actions::Action::Kind::Exec: return start(state.rule, hit, facts);
  }
  return {};
}

StackId ActionRunner::stack_of(Hit& hit) const {
  CallRecord& record = hit.call.record;
  const auto& choice = stacks_.policy().choice();
  if (record.stack == 0 && (choice.native || choice.python))
    record.stack = stacks_.at_return(hit.thread, hit.registers, hit.call.return_address);
  return record.stack;
}

ActionRunner::Outcome ActionRunner::dump(const State& state, const Hit& hit, const actions::Facts& facts) {
  const actions::Action& action = state.rule.action;
  const auto& parameters = hit.entry.probe->parameters;
  const auto found = std::ranges::find(parameters, action.argument, &probes::Parameter::name);
  if (found == parameters.end()) return {"the function has no such parameter", true};
  const RemoteAddr from{argument(*hit.entry.probe, *found, hit.call)};
  const double wanted =
      action.bytes_from.empty() ? static_cast<double>(action.bytes) : facts.of(action.bytes_from).number.value_or(0);
  if (!from || !(wanted >= 1)) return {"nothing: the address or the number of bytes is 0", true};
  const auto bytes = static_cast<std::uint64_t>(std::min(wanted, static_cast<double>(kMostDumped - dumped_)));
  if (bytes == 0) return {"nothing: all files of the session have 4 GiB", true};
  if (!hit.thread.memory().value<std::byte>(from))
    return {fmt::format("nothing: the memory at {:#x} could not be read", from.value), true};
  const std::string path = fmt::format("{}.action-{}-{}.bin", recording_, state.rule.number, state.done);
  const auto file = open_output_file(path, OutputMode::New, 0600);
  if (!file) return {file.error().sentence(), true};
  const auto done = copy_out(hit.thread, from, bytes, *file);
  dumped_ += done.value_or(0);
  if (!done) return {fmt::format("{}: {}", path, done.error().sentence()), true};
  return {fmt::format("{}, {} bytes from {:#x}{}", path, *done, from.value,
                      *done < static_cast<std::uint64_t>(wanted) ? "; more could not be read, or was too much" : "")};
}

// To the thread that made the call: it is stopped, so its number is not another one's.
ActionRunner::Outcome ActionRunner::send_signal(const Hit& hit, int signal) const {
  const Inferior& inferior = *hit.thread.inferior;
  if (::syscall(SYS_tgkill, inferior.pid.value(), hit.thread.tid.value(), signal) != 0)
    return {fmt::format("{} was not sent: {}", signal_name(signal), ::strerror(errno)), true};
  return {std::string(signal_name(signal))};
}

ActionRunner::Outcome ActionRunner::stop(const Hit& hit) const {
  const pid_t pid = hit.thread.inferior->pid.value();
  if (::kill(pid, SIGSTOP) != 0) return {fmt::format("it was not stopped: {}", ::strerror(errno)), true};
  return {fmt::format("it goes on with: kill -CONT {}", pid)};
}

ActionRunner::Outcome ActionRunner::start(const actions::Rule& rule, const Hit& hit,
                                          const actions::Facts& facts) const {
  const auto& command = rule.action.command;
  const auto pid = run_beside(
      command,
      {fmt::format("FADE_PID={}", hit.thread.inferior->pid.value()), fmt::format("FADE_TID={}", hit.thread.tid.value()),
       fmt::format("FADE_FUNCTION={}", hit.entry.probe->symbol),
       fmt::format("FADE_RESULT={}", facts.of("result").text.value_or(""))},
      scheduling_);
  if (!pid) return {pid.error().sentence(), true};
  return {fmt::format("process {}: {}", pid->value(), fmt::join(command, " "))};
}

// Calls that came before are stored first.
void ActionRunner::tell(const State& state, const Hit& hit, std::string action, Outcome outcome, StackId stack) {
  book_.flush();
  sink_.notice(ActionDone{state.rule.number, hit.call.record.id, hit.thread.id, hit.call.record.caller, stack,
                          clock_.now(), std::move(action), std::move(outcome.detail), outcome.has_failed});
}

}  // namespace fade
