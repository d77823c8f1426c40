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
WITH RECURSIVE place AS MATERIALIZED (
  SELECT x.frame, x.depth, replace(x.label, ';', ':') || CASE WHEN x.kind = 'python' AND x.file IS NOT NULL
         THEN ' (' || replace(replace(x.file, rtrim(x.file, replace(x.file, '/', '')), ''), ';', ':') || ':' || coalesce(x.line, '?') || ')' ELSE '' END AS text
  FROM frame_places x
), whole AS MATERIALIZED (
  SELECT frame, group_concat(text, ';') AS text FROM (SELECT * FROM place ORDER BY frame, depth DESC) GROUP BY frame
), node AS MATERIALIZED (
  SELECT t.stack, coalesce(t.parent, 0) AS parent, w.text FROM stack_tree t JOIN whole w ON w.frame = t.frame
), down(stack, text, depth) AS (
  SELECT stack, text, 1 FROM node WHERE parent = 0
  UNION ALL
  SELECT node.stack, down.text || ';' || node.text, depth + 1 FROM down JOIN node ON node.parent = down.stack WHERE depth < 10000
)
SELECT d.text || ';' || replace(s.name, ';', ':') AS frames, sum(s.calls) AS calls, sum(s.errors) AS errors, sum(s.self_ns) AS time_ns, sum(s.bytes) AS bytes
FROM stack_stats s JOIN down d ON d.stack = s.stack JOIN stack_tree t ON t.stack = s.stack JOIN frames f ON f.id = t.frame
WHERE true /*? AND s.session = :session */ /*? AND f.pid = :pid */ /*? AND s.stack = :stack */ /*? AND s.name REGEXP :name */
  /*? AND instr(',' || :api || ',', ',' || s.category || ',') > 0 */
  /*? AND CASE :weight WHEN 'calls' THEN s.calls WHEN 'bytes' THEN s.bytes ELSE s.self_ns END > 0 */
GROUP BY 1
