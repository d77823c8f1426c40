-- Threads by their row id, which calls have.
SELECT t.id, t.session, t.pid, t.tid, t.name
FROM threads t
WHERE t.session = coalesce(:session, t.session)
ORDER BY t.id
