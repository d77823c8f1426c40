-- What was watched of each process. A topic that is not complete has a reason.
SELECT pid, complete, group_concat(topic, ', ') AS topics, nullif(why, '') AS why
FROM watched
WHERE session = coalesce(:session, session)
GROUP BY session, pid, complete, why
ORDER BY complete, pid
LIMIT :most
