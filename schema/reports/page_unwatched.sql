-- The first events after which a process was not watched, or not as a whole.
SELECT kind, pid, detail
FROM lifecycle
WHERE kind IN ('unwatched', 'refused', 'locked', 'vanished') AND session = coalesce(:session, session)
ORDER BY kind <> 'vanished', id
LIMIT 5
