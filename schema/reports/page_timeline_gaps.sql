-- What was not recorded, and why. Without a beginning: somewhere in the process, so it is told at the end.
SELECT g.session, g.pid, NULL AS tid, 'not recorded' AS lane, 0 AS folds,
       g.start IS NULL AS instant, 'not recorded' AS category,
       g.why AS name, coalesce(g.start, s.end_ns - s.start_ns, g.last, 0) AS start, g."end", g.word AS reason
FROM (
  SELECT session, pid, start, "end", why, word,
         (SELECT c.start FROM calls c ORDER BY c.id DESC LIMIT 1) AS last
  FROM narrowings
  WHERE word NOT IN ('drops', 'size limit', 'return sites')
  UNION ALL
  SELECT session, NULL, start, start + duration,
         CASE
           WHEN reason GLOB 'results of calls*' THEN n || ' results were not seen: '
           WHEN reason GLOB 'stacks were not kept*' THEN n || ' stacks: '
           ELSE n || ' calls were not recorded: ' END || reason, 'drops', 0
  FROM drops) g
JOIN sessions s ON s.id = g.session
