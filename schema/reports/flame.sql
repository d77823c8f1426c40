-- Flame graph: call stacks from the outermost frame to the watched function, added up
-- about: On a terminal a tree; with --format collapsed or speedscope for other programs; other formats have a row for
--   each distinct stack. --weight says what is added up: time, calls or bytes allocated; peak: memory in use at the
--   peak; leaks: memory that was never freed.
-- about: The ranks of a distributed job stand apart; --merge adds them up.
-- sort: -time_ns
-- limit: 30
-- leave: errors bytes est_calls est_time_ns
-- variant: weight=peak flame_memory
-- variant: weight=leaks flame_memory
-- none: no call with a stack was recorded
-- question: time
-- topic: calls
-- record: -k all
-- column: frames   text      outermost first, separated by semicolons; the last is the watched function
-- column: calls    count     calls with these frames
-- column: errors   count     of them failed
-- column: time_ns  net       time in these calls without watched calls inside
-- column: bytes    bytes     memory that they allocated
-- column: est_calls    count  estimate: calls without a stack counted with the calls of the same function that have one
-- column: est_time_ns  net    estimate: the same of their time
WITH ranked AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY 1, 2),
whole AS MATERIALIZED (SELECT function_id, sum(calls) AS calls, sum(self_ns) AS self_ns FROM call_stats GROUP BY 1),
seen AS MATERIALIZED (SELECT function_id, sum(calls) AS calls, sum(self_ns) AS self_ns FROM stack_stats GROUP BY 1),
factor AS MATERIALIZED (
  SELECT s.function_id, max(1.0, w.calls * 1.0 / nullif(s.calls, 0)) AS calls,
         max(1.0, w.self_ns * 1.0 / nullif(s.self_ns, 0)) AS self_ns
  FROM seen s JOIN whole w ON w.function_id = s.function_id)
SELECT iif(:merge, '', coalesce('rank ' || (SELECT k.rank FROM stack_tree t JOIN frames f ON f.id = t.frame
                                            JOIN ranked k ON k.session = f.session
                                               AND k.pid = f.pid WHERE t.stack = s.stack) || ';', '')) ||
       fade_frames(s.stack, :word = 'own') || ';' || replace(s.name, ';', ':') AS frames,
       sum(s.calls) AS calls, sum(s.errors) AS errors, sum(s.self_ns) AS time_ns, sum(s.bytes) AS bytes,
       CAST(round(sum(s.calls * coalesce(x.calls, 1))) AS INTEGER) AS est_calls,
       CAST(round(sum(s.self_ns * coalesce(x.self_ns, 1))) AS INTEGER) AS est_time_ns
FROM stack_stats s LEFT JOIN factor x ON x.function_id = s.function_id
WHERE true /*? AND s.session = :session */
  /*? AND s.stack IN (SELECT t.stack FROM stack_tree t JOIN frames f ON f.id = t.frame WHERE f.pid = :pid) */
  /*? AND s.stack IN (SELECT t.stack FROM stack_tree t JOIN frames f ON f.id = t.frame
                      WHERE (f.session, f.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank)) */
  /*? AND s.stack = :stack */ /*? AND s.name REGEXP :name */
  /*? AND instr(',' || :api || ',', ',' || s.category || ',') > 0 */
  /*? AND CASE :weight WHEN 'calls' THEN s.calls WHEN 'bytes' THEN s.bytes ELSE s.self_ns END > 0 */
GROUP BY 1
