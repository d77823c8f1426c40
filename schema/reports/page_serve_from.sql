-- The first call with :id or a higher number.
SELECT id, ts
FROM call_
WHERE id >= :id
ORDER BY id
LIMIT 1
