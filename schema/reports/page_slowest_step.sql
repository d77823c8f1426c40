-- The slowest step, if the slow steps lost a twentieth of all time. The first step of each thread is left out: programs
-- warm up in it. The numbers n and steps are those of the page: of all steps.
WITH mine AS (SELECT * FROM steps WHERE session = coalesce(:session, session) AND complete),
counted AS (SELECT sum(slow) AS n, count(*) AS steps, sum(slow AND idx = 1) AS warm_ups FROM mine),
later AS (SELECT * FROM mine WHERE idx > 1),
lost AS (
  SELECT sum(CASE WHEN slow THEN duration - median_ns ELSE 0 END) AS ns, sum(duration) AS all_ns
  FROM later)
SELECT s.idx, s.name, s.pid, s.rank, s.thread_id, s.duration, s.median_ns, s.in_calls_ns, n.n, n.steps, n.warm_ups,
       i."end" - max(i.start, s.start) AS idle_ns, c.name AS after,
       coalesce((SELECT u.user_line FROM user_lines u WHERE u.stack = c.stack),
                (SELECT CASE WHEN min(u.user_line) = max(u.user_line) THEN min(u.user_line) END
                 FROM stack_stats x
                 JOIN user_lines u ON u.stack = x.stack
                 WHERE x.function_id = c.function_id)) AS user_line
FROM later s, lost l, counted n
LEFT JOIN idle_times i
  ON i.process_id = s.process_id AND i."end" > s.start AND i."end" <= s."end"
    AND 2 * (i."end" - max(i.start, s.start)) > s.duration - s.median_ns
LEFT JOIN calls c ON c.id = i.after_call_id
WHERE s.slow AND 20 * l.ns > l.all_ns
ORDER BY s.duration DESC
LIMIT 1
