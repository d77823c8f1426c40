-- The first crashes and hangs of a session.
SELECT pid, what
FROM postmortems
WHERE session = :session AND kind <> 'snapshot' AND coalesce(signal, 0) NOT IN (1, 2, 15)
ORDER BY start
LIMIT 3
