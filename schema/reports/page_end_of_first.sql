-- How the first process ended.
SELECT p.exit_code, p.exit_signal, p.duration, s.clean AND s.kind = 'attach' AS detached
FROM processes p
JOIN sessions s ON s.id = p.session
WHERE p.session = coalesce(:session, p.session)
ORDER BY p.id
LIMIT 1
