-- From where calls were made: call stacks by the time of their calls
-- about: Which calls have a stack is chosen when recording (fade-run --stacks). One stack in full: fade-query stacks
--   --stack ID; its calls: fade-query calls --stack ID.
-- sort: -total_ns
-- limit: 30
-- leave: pid self_ns errors bytes functions frames user_line
-- none: no call with a stack was recorded
-- question: time
-- topic: calls
-- record: -k all
-- column: stack      id        of the stack
-- column: pid        id        process
-- column: rank       count     of the process in a distributed job
-- column: calls      count     calls with that stack
-- column: errors     count     of them failed
-- column: total_ns   net       time between entry and return
-- column: self_ns    net       the same without watched calls inside
-- column: bytes      bytes     memory that these calls allocated
-- column: functions  text      watched functions that were called
-- column: frames     text      the three innermost frames, innermost first
-- column: user_line  text      your own line: the innermost outside of packages (--skip-frames)
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT stack, pid, (SELECT r.rank FROM rank_of r WHERE r.session = q.session AND r.pid = q.pid) AS rank,
       calls, errors, total_ns, self_ns, bytes, functions, frames, user_line FROM (
  SELECT stack, pid, calls, errors, total_ns, self_ns, bytes, functions, frames,
         (SELECT u.user_line FROM user_lines u WHERE u.stack = stacks.stack) AS user_line, session
  FROM stacks) q
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND stack = :stack */
  /*? AND (functions REGEXP :name OR frames REGEXP :name OR user_line REGEXP :name) */
  /*? AND CASE :weight WHEN 'calls' THEN calls WHEN 'bytes' THEN bytes ELSE self_ns END > 0 */
