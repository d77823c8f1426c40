-- Failed calls by function and result, the most first.
SELECT name, coalesce(error, code) AS error, sum(repeats) AS n, min(start) AS first, injected
FROM failures
WHERE NOT normal AND session = coalesce(:session, session)
GROUP BY name, code, failures.error, injected
ORDER BY 3 DESC
