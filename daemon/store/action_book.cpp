#include "store/action_book.hpp"

namespace fade::store {

ActionBook::ActionBook(sqlite::Db& db, Failure& failure, Directory& directory, StepBook& steps, SessionRow session)
    : directory_(directory),
      steps_(steps),
      session_(session),
      rule_(db, failure, "INSERT INTO action_ VALUES (?,?,?,?)"),
      done_(db, failure,
            "INSERT INTO action_done_ (session, rule, ts, action, detail, call, thread, caller, stack, step, failed) "
            "VALUES "
            "(?,?,?,?,?,?,?,?,?,?,?)") {}

void ActionBook::on(const ActionRule& n) { rule_(session_, n.rule, n.spec, n.origin); }

void ActionBook::on(const ActionDone& n) {
  const ThreadEntry* thread = directory_.thread(n.thread);
  const ThreadRow row = thread ? directory_.thread_row(n.thread) : ThreadRow(0);
  const StepRow step = thread ? steps_.open_step(directory_.process_row(thread->process), row) : StepRow(0);
  done_(session_, n.rule, n.at, n.action, unless_empty(n.detail), unless(directory_.call_row(n.call), 0),
        unless(row, 0), unless(directory_.site_row(n.caller), 0), unless(directory_.stack_row(n.stack), 0),
        unless(step, 0), n.has_failed);
}

}  // namespace fade::store
