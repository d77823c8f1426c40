-- Flame graph: call stacks from the outermost frame to the watched function, added up
-- about: On a terminal a tree; with --format collapsed or speedscope for other programs; other formats have a row for each distinct stack. --weight says what is added up: time, calls or bytes allocated; peak: memory in use at the peak; leaks: memory that was never freed.
-- about: The ranks of a distributed job stand apart; --merge adds them up.
-- sort: -time_ns
-- limit: 30
-- leave: errors bytes
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
WITH ranked AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY 1, 2)
SELECT iif(:merge, '', coalesce('rank ' || (SELECT k.rank FROM stack_tree t JOIN frames f ON f.id = t.frame
                                            JOIN ranked k ON k.session = f.session AND k.pid = f.pid WHERE t.stack = s.stack) || ';', '')) ||
       fade_frames(s.stack, :word = 'own') || ';' || replace(s.name, ';', ':') AS frames, sum(s.calls) AS calls, sum(s.errors) AS errors, sum(s.self_ns) AS time_ns, sum(s.bytes) AS bytes
FROM stack_stats s
WHERE true /*? AND s.session = :session */ /*? AND s.stack IN (SELECT t.stack FROM stack_tree t JOIN frames f ON f.id = t.frame WHERE f.pid = :pid) */
  /*? AND s.stack IN (SELECT t.stack FROM stack_tree t JOIN frames f ON f.id = t.frame
                      WHERE (f.session, f.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank)) */
  /*? AND s.stack = :stack */ /*? AND s.name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || s.category || ',') > 0 */
  /*? AND CASE :weight WHEN 'calls' THEN s.calls WHEN 'bytes' THEN s.bytes ELSE s.self_ns END > 0 */
GROUP BY 1
