-- Flame graph: call stacks from the outermost frame to the watched function, added up
-- about: On a terminal a tree; with --format collapsed or speedscope for other programs; other formats have a row for each distinct stack. --weight says what is added up: time, calls or bytes.
-- sort: -time_ns
-- limit: 30
-- leave: errors bytes
-- column: frames   text      outermost first, separated by semicolons; the last is the watched function
-- column: calls    count     calls with these frames
-- column: errors   count     of them failed
-- column: time_ns  duration  time in these calls without watched calls inside
-- column: bytes    bytes     memory that they allocated
WITH called AS MATERIALIZED (
  SELECT s.stack, s.name, s.calls, s.errors, s.self_ns, s.bytes FROM stack_stats s JOIN stack_tree t ON t.stack = s.stack JOIN frames f ON f.id = t.frame
  WHERE true /*? AND s.session = :session */ /*? AND f.pid = :pid */ /*? AND s.stack = :stack */ /*? AND s.name REGEXP :name */
    /*? AND instr(',' || :api || ',', ',' || s.category || ',') > 0 */
    /*? AND CASE :weight WHEN 'calls' THEN s.calls WHEN 'bytes' THEN s.bytes ELSE s.self_ns END > 0 */
), whole AS MATERIALIZED (
  SELECT t.stack, (
    WITH RECURSIVE up(parent, frame, n) AS (
      SELECT t.parent, t.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_tree x ON x.stack = up.parent WHERE n < 10000)
    SELECT group_concat(text, ';') FROM (
      SELECT replace(f.label, ';', ':') || CASE WHEN f.kind = 'python' AND f.file IS NOT NULL
             THEN ' (' || replace(replace(f.file, rtrim(f.file, replace(f.file, '/', '')), ''), ';', ':') || ':' || coalesce(f.line, '?') || ')' ELSE '' END
             || coalesce((SELECT ';' || group_concat(text, ';') FROM (SELECT replace(coalesce(i.function, '?'), ';', ':') AS text FROM inlined_functions i WHERE i.frame = f.id ORDER BY i.depth DESC)), '') AS text
      FROM up JOIN frames f ON f.id = up.frame ORDER BY n DESC)) AS text
  FROM stack_tree t WHERE t.stack IN (SELECT stack FROM called)
)
SELECT w.text || ';' || replace(s.name, ';', ':') AS frames, sum(s.calls) AS calls, sum(s.errors) AS errors, sum(s.self_ns) AS time_ns, sum(s.bytes) AS bytes
FROM called s JOIN whole w ON w.stack = s.stack
GROUP BY 1
