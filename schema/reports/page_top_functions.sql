-- Functions of each process with their sums so far.
SELECT t.process, x.name, sum(x.calls) AS calls, sum(x.errors) AS errors, coalesce(sum(x.total_ns), 0) AS total_ns
FROM call_stats x
JOIN thread_ t ON t.id = x.thread_id
WHERE x.session = :session
GROUP BY t.process, x.name
