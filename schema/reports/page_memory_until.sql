-- When the last process ended, or the recording.
SELECT max(coalesce(p."end", s.duration)) AS until
FROM processes p
JOIN sessions s ON s.id = p.session
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
