-- The calls and events that were not recorded, by reason.
SELECT reason, sum(n) AS n
FROM drops
WHERE session = coalesce(:session, session)
GROUP BY reason
ORDER BY 2 DESC
LIMIT 10
