-- How the first process ended.
SELECT exit_code, exit_signal, duration
FROM processes
WHERE session = coalesce(:session, session)
ORDER BY id
LIMIT 1
