// Runs a real program under a Session and keeps what the session says, without a database.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_batch.hpp"
#include "probes/overrides/overrides.hpp"
#include "ptrace/launch.hpp"
#include "session/session.hpp"

namespace fade::test {

struct CountingSink : EventSink {
  std::size_t summed = 0;  // calls that came without a record
  void calls(const CallBatch& batch) override {
    summed += batch.summed.size();
    EventSink::calls(batch);
  }
};

struct CollectingSink : CountingSink {
  struct Call {
    CallRecord record;
    std::vector<std::byte> payload;
  };
  std::vector<Call> calls;
  std::vector<Notice> notices;

  void call(CallRecord record, std::span<const std::byte> payload) override {
    calls.push_back({record, {payload.begin(), payload.end()}});
  }
  void notice(Notice notice) override { notices.push_back(std::move(notice)); }

  template <class T>
  std::vector<T> all() const {
    std::vector<T> out;
    for (const auto& n : notices)
      if (const T* found = std::get_if<T>(&n)) out.push_back(*found);
    return out;
  }
  std::string name_of(FunctionId id) const {
    for (const auto& f : all<FunctionDefined>())
      if (f.function == id) return f.probe->symbol;
    return {};
  }
  std::map<std::string, int> counts() const {
    std::map<std::string, int> out;
    for (const auto& c : calls) ++out[name_of(c.record.function)];
    return out;
  }
  std::vector<std::string> lifecycle(const std::string& kind) const {
    std::vector<std::string> out;
    for (const auto& l : all<Lifecycle>())
      if (l.kind == kind) out.push_back(l.detail);
    return out;
  }
};

// Where a variable stands twice, the loader takes the last and getenv the first.
inline bool names_variable(const std::vector<std::string>& environment, std::string_view entry) {
  const auto name = entry.substr(0, entry.find('=') + 1);
  return std::ranges::any_of(environment, [&](const std::string& e) { return e.starts_with(name); });
}

struct Supervised {
  CollectingSink sink;
  int status = -1, signal = 0;

  // Runs it to its end. Environment entries take the place of ours of the same name, or are added.
  static Supervised run(std::vector<std::string> argv, SessionOptions options, const probes::Overrides& overrides,
                        const std::vector<std::string>& environment = {}) {
    Supervised out;
    LaunchedProgram::Command command{.argv = std::move(argv), .environment = environment};
    for (char** e = environ; *e; ++e)
      if (!names_variable(environment, *e)) command.environment.emplace_back(*e);
    auto program = LaunchedProgram::fork_waiting(command);
    if (!program) return out;
    auto tracer = Tracer::create();
    if (!tracer || !tracer->seize(leader_of(program->pid()), true)) return out;
    const SessionClock clock;
    Session session(*tracer, out.sink, clock, overrides, std::move(options));
    session.adopt(program->pid());
    program->release();
    while (!session.empty()) {
      const Stop stop = tracer->next();
      if (stop.kind == Stop::Kind::Gone) break;
      if (stop.kind != Stop::Kind::None) session.handle(stop);
      session.tick(clock.now());  // stops may come without a pause
    }
    session.report_costs();
    out.status = session.main_status();
    out.signal = session.main_signal();
    return out;
  }
};

// A probe that takes its arguments in registers, as a .probes line would make it.
inline probes::ProbePtr simple_probe(std::string symbol, std::size_t parameters) {
  probes::Probe probe{.symbol = std::move(symbol), .api = "hip", .group = "other"};
  probe.result = {probes::TypeClass::Enum, 4, "hipError_t"};
  probe.has_success = true;
  for (std::size_t i = 0; i < parameters; ++i) {
    probes::Parameter p{.name = "a" + std::to_string(i), .type = {probes::TypeClass::Unsigned, 8, "unsigned long"}};
    p.at.first = static_cast<std::uint8_t>(i);
    probe.parameters.push_back(std::move(p));
  }
  return std::make_shared<const probes::Probe>(std::move(probe));
}

}  // namespace fade::test
