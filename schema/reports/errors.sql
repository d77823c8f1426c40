-- Calls that failed, with their arguments
-- about: Results that are an answer (a query that is not ready, an attribute that a device does not have) are no failures: fade-query sql 'SELECT * FROM failures WHERE normal'. The first failures of each function, code and caller have a row each; later ones are added up in one more row (repeats).
-- sort: start_ns
-- limit: 50
-- leave: frames stack last_ns call_id code tid pid caller args user_line
-- none: no call failed
-- question: happened
-- topic: errors
-- column: start_ns  time   entry of the call
-- column: pid       id     process
-- column: rank      count  of the process in a distributed job
-- column: tid       id     thread
-- column: name      text   function
-- column: code      id     result
-- column: error     text   name of the result
-- column: repeats   count  failures that this row stands for
-- column: last_ns   time   the last of them
-- column: call_id   id     id of the (first) call
-- column: caller    text   where it was called from
-- column: stack     id     the stack of the (first) call: fade-query stacks --stack ID
-- column: user_line text   your own line in it: the innermost outside of packages (--skip-frames)
-- column: frames    text   its three innermost frames, innermost first
-- column: args      text   arguments
SELECT start AS start_ns, pid, (SELECT max(r.rank) FROM process_ranks r WHERE r.session = f.session AND r.pid = f.pid) AS rank,
       tid, name, code, error, repeats, last AS last_ns, call_id, caller, f.stack, (SELECT u.user_line FROM user_lines u WHERE u.stack = f.stack) AS user_line, t.frames, args
FROM failures f LEFT JOIN stack_tops t ON t.stack = f.stack
WHERE NOT normal /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND (name REGEXP :name OR error REGEXP :name) */
