-- Where the program waited for the GPU, by your own line
-- about: Only calls whose stack was recorded have a line. By default that is the first call of each function from each
--   place; record
-- about: with fade-run --stacks all to have all of them. "(no stack; record with -k all)" adds up the others.
-- hidden: a variant of waits
-- sort: -blocked_ns
-- limit: 30
-- leave: max_ns function percent
-- none: no call waited for the GPU
-- topic: waits
-- rows: of single calls
-- events: sync,copy
-- column: line        text      your own line: the innermost outside of packages (--skip-frames); empty: none is known
-- column: function    text      its function
-- column: name        text      function that waited
-- column: calls       count     how many
-- column: blocked_ns  net       in them
-- column: percent     percent   of all the time that was waited
-- column: max_ns      net       the longest
WITH waited AS MATERIALIZED (
  SELECT f.name, s.stack, count(*) AS calls, sum(c.dur - coalesce(k.call_ns, 0)) AS blocked_ns,
         max(c.dur - coalesce(k.call_ns, 0)) AS max_ns
  FROM call_stack_ s CROSS JOIN call_ c ON c.id = s.call JOIN function_ f ON f.id = c.fn
    JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process
       LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump'
  WHERE f.api = 'hip' AND (f.kind = 'sync' OR f.kind = 'copy' AND instr(f.name, 'Async') = 0)
    /*? AND p.session = :session */ /*? AND p.pid = :pid */
    /*? AND (p.session, p.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND f.name REGEXP :name */
  GROUP BY f.name, s.stack),
python AS MATERIALIZED (
  SELECT u.stack, u.file_line AS line, u.function FROM user_lines u WHERE u.stack IN (SELECT stack FROM waited)),
whole AS MATERIALIZED (
  SELECT name, sum(calls) AS calls, sum(blocked_ns) AS blocked_ns FROM waits
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND name REGEXP :name */ GROUP BY name),
line AS (
  SELECT p.line, p.function, w.name, sum(w.calls) AS calls,
         iif(h.blocked_ns = 0, 0, max(sum(w.blocked_ns), 0)) AS blocked_ns,
         iif(h.blocked_ns = 0, 0, max(w.max_ns)) AS max_ns
  FROM waited w LEFT JOIN python p ON p.stack = w.stack JOIN whole h ON h.name = w.name
  GROUP BY p.line, p.function, w.name
  UNION ALL
  SELECT '(no stack; record with -k all)', NULL, h.name, h.calls - coalesce(sum(w.calls), 0),
         iif(h.blocked_ns = 0, 0, max(h.blocked_ns - coalesce(sum(w.blocked_ns), 0), 0)), NULL
  FROM whole h LEFT JOIN waited w ON w.name = h.name GROUP BY h.name HAVING h.calls > coalesce(sum(w.calls), 0))
SELECT line, function, name, calls, blocked_ns,
       round(100.0 * blocked_ns / nullif(sum(blocked_ns) OVER (), 0), 2) AS percent, max_ns FROM line
