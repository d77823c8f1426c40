-- The range that the program marks the most often.
SELECT name, sum(n) AS n
FROM range_stats
WHERE session = coalesce(:session, session) AND kind <> 'mark'
GROUP BY name
ORDER BY 2 DESC
LIMIT 1
