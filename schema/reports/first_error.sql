-- The first call of each process that failed, and what followed, as figures
-- hidden: the command first-error shows it
-- sort: start_ns
-- leave: command advice stack frames call_id meaning caller args tid code inside asked next same_after
-- column: start_ns        time   when it returned
-- column: pid             id     process
-- column: rank            count  of the process in a distributed job
-- column: tid             id     thread
-- column: name            text   function
-- column: code            id     result
-- column: error           text   name of the result
-- column: sticky          yesno  whether nothing works any more after such a result
-- column: calls_after     count  calls of the process after it; empty where not each call has a row
-- column: failures_after  count  failures of the process after it
-- column: same_after      count  of them with the same result
-- column: meaning         text   of the result, where known
-- column: inside          text   the watched function that made the call, where it was one
-- column: caller          text   where it was called from
-- column: user_line       text   your own line: the innermost outside of packages (--skip-frames), where its stack was
--   taken
-- column: frames          text   the three innermost frames of the program's own code
-- column: stack           id     its stack: fade-query stacks --stack ID
-- column: args            text   arguments
-- column: next            text   the thread's next call and what that returned
-- column: asked           text   the thread's next hipGetLastError or hipPeekAtLastError and what that returned
-- column: call_id         id     id of the call
-- column: command         command  of the process
-- column: advice          text   what to do
SELECT start AS start_ns, pid, (SELECT max(r.rank) FROM process_ranks r WHERE r.session = e.session
                                   AND r.pid = e.pid) AS rank,
       tid, name, code, error, sticky, calls_after, failures_after, same_after, meaning, inside,
       caller, (SELECT u.user_line FROM user_lines u WHERE u.stack = k.stack) AS user_line, t.frames, k.stack, args,
       next_name || coalesce(' ' || next_result, '') AS next, asked_name || coalesce(' ' || asked_result, '') AS asked,
       e.call_id, command, advice
FROM first_errors e LEFT JOIN stack_calls k ON k.call_id = e.call_id LEFT JOIN stack_tops t ON t.stack = k.stack
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND (name REGEXP :name OR error REGEXP :name) */
