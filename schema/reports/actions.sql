-- What the rules of --actions did, and rules that did nothing
-- sort: at_ns
-- limit: 100
-- leave: caller stack call_id tid pid step user_line spec
-- none: no rule of --actions did anything
-- question: happened
-- topic: processes
-- record: --actions FILE
-- column: at_ns     time  when; empty: the rule did nothing
-- column: spec      text  the rule
-- column: origin    text  FILE:LINE
-- column: action    text  snapshot, stack, dump, mark, signal, stop or exec; limit: the rule did nothing from then on
-- column: failed    yesno nothing was done
-- column: detail    text  the file that was written, the command and its process, or why nothing was done
-- column: name      text  function that was called
-- column: user_line text  your own line, if a stack was taken
-- column: caller    text  who called
-- column: step      count number of the step in its thread
-- column: call_id   id    the call
-- column: stack     id    its stack
-- column: pid       id    process
-- column: tid       id    thread
SELECT a.at AS at_ns, r.spec, r.origin, a.action, a.failed, a.detail, a.name,
  (SELECT u.user_line FROM user_lines u WHERE u.stack = a.stack) AS user_line, coalesce(c.symbol, c.library) AS caller,
  a.step, a.call_id, a.stack, a.pid, a.tid
FROM action_rules r LEFT JOIN actions a ON a.session = r.session AND a.rule = r.rule
LEFT JOIN callers c ON c.id = a.caller_id
WHERE true /*? AND r.session = :session */ /*? AND a.pid = :pid */ /*? AND a.tid = :tid */
    /*? AND (a.session, a.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND a.name REGEXP :name */
