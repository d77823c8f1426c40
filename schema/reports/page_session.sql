-- The newest session.
SELECT command, start_ns, duration, host, kernel, fade_version, id
FROM sessions
WHERE id = coalesce(:session, id)
ORDER BY id DESC
LIMIT 1
