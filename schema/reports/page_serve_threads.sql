-- Threads by their numbers in the recording.
SELECT t.id, p.pid, t.tid, t.name
FROM thread_ t
JOIN process_ p ON p.id = t.process
WHERE p.session = coalesce(:session, p.session)
