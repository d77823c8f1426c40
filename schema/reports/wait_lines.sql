-- Where the program waited for the GPU, by line of Python
-- about: Only calls whose stack was recorded have a line. If not every call has one, as by default, the lines are samples, and the rest is
-- about: told in a row of its own: fade-run --stacks all gives every call a line.
-- hidden: a variant of waits
-- sort: -blocked_ns
-- limit: 30
-- leave: max_ns function
-- column: line        text      innermost line of Python; empty: there was no Python; in brackets: there is no stack
-- column: function    text      its function
-- column: name        text      function that waited
-- column: calls       count     of that line
-- column: blocked_ns  duration  in them
-- column: max_ns      duration  the longest
WITH RECURSIVE waited AS MATERIALIZED (
  SELECT c.id, c.dur, f.name, s.stack
  FROM call_stack_ s JOIN call_ c ON c.id = s.call JOIN function_ f ON f.id = c.fn JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process
  WHERE f.api = 'hip' AND (f.kind = 'sync' OR f.kind = 'copy' AND instr(f.name, 'Async') = 0)
    AND c.dur IS NOT NULL /*? AND p.session = :session */ /*? AND p.pid = :pid */ /*? AND f.name REGEXP :name */),
walk(stack, at) AS (
  SELECT DISTINCT stack, stack FROM waited
  UNION SELECT w.stack, k.parent FROM walk w JOIN stack_ k ON k.id = w.at JOIN frame_ f ON f.id = k.frame WHERE f.kind <> 1 AND k.parent IS NOT NULL),
python AS MATERIALIZED (
  SELECT w.stack, f.file || ':' || coalesce(f.line, '?') AS line, f.name AS function FROM walk w JOIN stack_ k ON k.id = w.at JOIN frame_ f ON f.id = k.frame WHERE f.kind = 1)
SELECT p.line, p.function, w.name, count(*) AS calls, sum(w.dur) AS blocked_ns, max(w.dur) AS max_ns
FROM waited w LEFT JOIN python p ON p.stack = w.stack GROUP BY p.line, p.function, w.name
UNION ALL
SELECT '(no stack recorded: fade-run --stacks all)', NULL, a.name, a.calls - coalesce(w.calls, 0), a.ns - coalesce(w.ns, 0), NULL
FROM (SELECT name, sum(calls) AS calls, sum(blocked_ns) AS ns FROM waits WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND name REGEXP :name */ GROUP BY name) a
LEFT JOIN (SELECT name, count(*) AS calls, sum(dur) AS ns FROM waited GROUP BY name) w ON w.name = a.name WHERE a.calls > coalesce(w.calls, 0)
