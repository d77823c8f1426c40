-- Stacks with the sums of their calls so far. Time without watched calls inside, so that no time counts twice.
SELECT f.process, x.stack, sum(x.calls) AS calls, sum(x.self_ns) AS self_ns
FROM stack_stats x
JOIN stack_ s ON s.id = x.stack
JOIN frame_ f ON f.id = s.frame
WHERE x.session = :session
GROUP BY x.stack
