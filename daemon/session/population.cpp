#include "session/population.hpp"

namespace fade {

Population::Population(const Parts& parts)
    : p_(parts),
      unclaimed_(parts.sink, parts.clock, parts.roster),
      untraced_(parts.sink, parts.clock, parts.roster, unclaimed_, parts.follows) {}

Inferior& Population::add(Pid pid, ProcessId parent, std::shared_ptr<Program> program) {
  untraced_.know(pid);
  return p_.roster.add(pid, parent, std::move(program));
}

Inferior& Population::add_root(Pid pid, ProcessId parent, std::shared_ptr<Program> program) {
  if (main_.pid == 0) main_.pid = pid;
  Inferior& inferior = add(pid, parent, std::move(program));
  inferior.is_root = true;
  p_.black_box.began(inferior);
  return inferior;
}

void Population::end_thread(Thread& thread, bool process_ended) {
  p_.engines.thread_ended(thread, process_ended);
  p_.tally.report(thread);
  p_.roster.remove(thread);
}

void Population::end(Inferior& inferior, const Stop& stop) {
  const bool killed = stop.kind == Stop::Kind::Killed;
  p_.black_box.ended(inferior, stop);
  while (!inferior.threads.empty()) end_thread(*inferior.threads.begin()->second, true);
  last_end_ = p_.clock.now();  // one time for the recording and for the totals
  p_.sink.notice(ProcessEnded{inferior.id, last_end_, killed ? -1 : stop.status, killed ? stop.status : 0});
  if (inferior.pid == main_.pid) {
    main_.life_ns = last_end_ - inferior.began;
    main_.ended = true;
    (killed ? main_.signal : main_.status) = stop.status;
  }
  p_.roster.remove(inferior);
}

void Population::end_unseen(const Inferior& inferior) {
  p_.sink.notice(ProcessEnded{inferior.id, p_.clock.now(), -1, 0});
  p_.roster.remove(inferior);
}

void Population::let_run(Inferior& inferior) {
  while (!inferior.threads.empty()) end_thread(*inferior.threads.begin()->second, false);
  p_.roster.remove(inferior);
}

std::int64_t Population::life_ns() const {
  if (!p_.roster.processes().empty()) return p_.clock.now() - p_.roster.first_began();
  return last_end_ == 0 ? 0 : last_end_ - p_.roster.first_began();
}

void Population::give_up_children() {
  for (const Tid child : unclaimed_.give_up())
    untraced_.know(process_of_leader(child));  // a thread's number does no harm
}

}  // namespace fade
