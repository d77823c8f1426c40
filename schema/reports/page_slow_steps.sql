-- The slow steps of a thread, the slowest first.
SELECT idx, name, duration, start
FROM steps
WHERE slow AND thread_id = :thread
ORDER BY duration DESC
