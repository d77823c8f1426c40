-- The calls around a call, the innermost first.
WITH RECURSIVE up(id, parent, n) AS (
  SELECT id, parent_id, 0
  FROM calls
  WHERE id = :id
  UNION ALL
  SELECT c.id, c.parent_id, n + 1
  FROM up
  CROSS JOIN calls c ON c.id = up.parent
  WHERE n < 50)
SELECT c.id, c.name, c.start, c.duration
FROM up
CROSS JOIN calls c ON c.id = up.id
WHERE up.n > 0
ORDER BY up.n
