-- Every recorded call, in the order of entry
-- about: With --errors only failed calls, with --slower-than TIME only long ones, with --unfinished those that never
--   returned.
-- limit: 50
-- page: id
-- leave: parent_id stack api caller id tid pid args state user_line
-- none: no call was recorded
-- question: own
-- topic: calls
-- rows: of single calls
-- column: id           id        of the call, ascending by time of entry
-- column: start_ns     time      entry
-- column: duration_ns  duration  until return; empty where it never returned
-- column: pid          id        process
-- column: rank         count     of the process in a distributed job
-- column: tid          id        thread
-- column: api          text      hip, hiprtc, cuda or user
-- column: name         text      function
-- column: result       text      by name where it has one; empty where it never returned
-- column: state        text      returned, unwound (exception, longjmp, end of thread) or open (still running at the
--   end)
-- column: parent_id    id        the watched call that made this one
-- column: caller       text      symbol or library the call came from
-- column: stack        id        from where: fade-query stacks --stack ID; empty where no stack was taken
-- column: user_line    text      your own line in that stack: the innermost outside of packages (--skip-frames)
-- column: args         text      arguments
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT id, start AS start_ns, duration AS duration_ns, pid,
       (SELECT r.rank FROM rank_of r WHERE r.session = calls.session AND r.pid = calls.pid) AS rank,
       tid, category AS api, name, coalesce(result_name, result) AS result, state,
       parent_id, CASE WHEN caller_id IS NOT NULL THEN caller END AS caller, stack,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = calls.stack) AS user_line, args
FROM calls
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND id IN (SELECT call_id FROM stack_calls WHERE stack = :stack) */
  /*? AND name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
  /*?errors AND failed = 1 */ /*? AND duration >= :slower_than */
  /*?unfinished AND state IN ('open', 'unwound') */
