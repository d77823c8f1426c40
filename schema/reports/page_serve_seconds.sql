-- Calls and failed calls of each process in columns of :width ns, a number of whole seconds.
SELECT pid, sec * 1000000000 / :width AS part, sum(calls) AS calls, sum(errors) AS errors
FROM process_use
WHERE session = coalesce(:session, session) AND sec >= :from / 1000000000 AND sec <= :to / 1000000000
GROUP BY 1, 2
ORDER BY 1, 2
