-- Steps, slow ones and long ones first.
SELECT start, duration, name, idx, slow, complete, count(*) OVER () AS n
FROM steps
WHERE session = coalesce(:session, session)
ORDER BY slow DESC, duration DESC
LIMIT :most
