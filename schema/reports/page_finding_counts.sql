-- How many findings of each severity there are.
SELECT severity, count(*) AS n
FROM (SELECT DISTINCT severity, finding, subject, text FROM findings WHERE session = coalesce(:session, session))
GROUP BY severity
ORDER BY CASE severity WHEN 'error' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END
