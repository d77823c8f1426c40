-- The frames of :stack, innermost first. As stack_frames, but without JSON functions, which views may not use if the
-- file is not trusted.
WITH RECURSIVE up(parent, frame, n) AS (
  SELECT parent, frame, 0
  FROM stack_tree
  WHERE stack = :stack
  UNION ALL
  SELECT t.parent, t.frame, n + 1
  FROM up
  JOIN stack_tree t ON t.stack = up.parent
  WHERE n < 10000)
SELECT f.label, f.kind, 0 AS inlined, f.library, f.function, f.file, f.line, f.system, n AS n, 1000000 AS depth
FROM up
JOIN frames f ON f.id = up.frame
UNION ALL
SELECT coalesce(i.function, '?'), 'native', 1, f.library, i.function, i.file, i.line, f.system, n, i.depth
FROM up
JOIN inlined_functions i ON i.frame = up.frame
JOIN frames f ON f.id = i.frame
ORDER BY 9, 10
