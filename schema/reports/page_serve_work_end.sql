-- The first work of GPUs with :id or a higher number, and its end.
SELECT id, ts + dur
FROM gpu_work_
WHERE id >= :id
ORDER BY id
LIMIT 1
