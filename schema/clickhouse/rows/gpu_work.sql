-- The view gpu_work.
-- section: ids
SELECT min(id), max(id)
FROM gpu_work_
-- section: rows
SELECT *
FROM gpu_work
WHERE id >= :from AND id < :to AND session = :session
