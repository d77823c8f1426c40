-- The thread that spent the most time in calls, and how long its process ran.
SELECT t.tid, t.name, t.total_ns, coalesce(p.duration, s.duration) AS life_ns
FROM threads t
JOIN processes p ON p.id = t.process_id
JOIN sessions s ON s.id = t.session
WHERE t.session = coalesce(:session, t.session)
ORDER BY t.total_ns DESC
LIMIT 1
