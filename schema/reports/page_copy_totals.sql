-- Copies by direction, the most bytes first.
SELECT direction, sum(n) AS n, sum(bytes) AS bytes
FROM copy_sizes
WHERE session = coalesce(:session, session)
GROUP BY direction
ORDER BY 3 DESC
