-- Calls that failed, by function, error and place
-- about: Results that are an answer (a query that is not ready, an attribute that a device does not have) are no
--   failures: fade-query sql 'SELECT * FROM failures WHERE normal'. Failures of a process with the same function, error
--   and place are one row. It has their number, the first and the last time. A row for each: fade-query calls --errors.
-- sort: start_ns
-- limit: 50
-- leave: injected frames stack call_id code tid pid caller args last_ns user_line
-- none: no call failed
-- question: happened
-- topic: errors
-- column: start_ns  time   entry of the first of them
-- column: pid       id     process
-- column: rank      count  of the process in a distributed job
-- column: tid       id     thread; empty: several
-- column: name      text   function
-- column: code      id     result
-- column: error     text   name of the result
-- column: repeats   count  failures that this row stands for
-- column: injected  yesno  failed by fade on request (--inject)
-- column: last_ns   time   the last of them
-- column: call_id   id     id of the first call
-- column: caller    text   where it was called from
-- column: stack     id     the stack of the first call: fade-query stacks --stack ID
-- column: user_line text   your own line in it: the innermost outside of packages (--skip-frames)
-- column: frames    text   its three innermost frames, innermost first
-- column: args      text   arguments of the first call
WITH f AS MATERIALIZED (
  SELECT f.*, (SELECT u.user_line FROM user_lines u WHERE u.stack = f.stack) AS user_line
  FROM failures f
  WHERE NOT normal /*? AND start >= :from */ /*? AND start < :to */
    /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
    /*? AND (name REGEXP :name OR error REGEXP :name) */),
-- A failure without a stack is of the only line that its caller is known to have failed from.
placed AS (
  SELECT f.*, coalesce(user_line, iif(min(user_line) OVER w = max(user_line) OVER w, min(user_line) OVER w, caller),
                       '') AS place
  FROM f
  WINDOW w AS (PARTITION BY process_id, name, code, caller_id, injected)),
counted AS (
  SELECT placed.*, row_number() OVER (g ORDER BY start, id) AS nth, sum(repeats) OVER g AS failures,
         max(last) OVER g AS newest,
         min(tid) OVER g = max(tid) OVER g AS one_thread
  FROM placed
  WINDOW g AS (PARTITION BY process_id, name, code, place, injected))
SELECT start AS start_ns, pid, (SELECT max(r.rank) FROM process_ranks r WHERE r.session = c.session
                                   AND r.pid = c.pid) AS rank,
       iif(one_thread, tid, NULL) AS tid, name, code, error, failures AS repeats,
       injected, newest AS last_ns, call_id, caller, c.stack, user_line, t.frames, args
FROM counted c LEFT JOIN stack_tops t ON t.stack = c.stack
WHERE nth = 1
