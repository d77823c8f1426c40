-- Calls, failed calls and launches in columns of :width ns, which is a number of whole seconds.
SELECT sec * 1000000000 / :width AS part, sum(calls) AS calls, sum(errors) AS errors, sum(launches) AS launches
FROM process_use
WHERE session = coalesce(:session, session)
GROUP BY 1
ORDER BY 1
