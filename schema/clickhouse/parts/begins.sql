-- For each recording the time from the begin of its job to its own begin, by the clocks of {clocks}. clock: what the
-- comparison between machines rests on.
SELECT job, b.1 AS recording, b.2 - first AS shift, b.3 AS clock
FROM (
  SELECT job, min(begin_ns) AS first, groupArray((recording, begin_ns, clock)) AS each
  FROM (
    SELECT job, recording, start_ns - ahead_ns AS begin_ns, if(operations > 0, 'collectives', 'NTP') AS clock
    FROM (SELECT job, recording, host, start_ns FROM recordings WHERE 1 /*? AND job = :job */) AS begun
    GLOBAL ANY LEFT JOIN ({clocks}) AS clocks USING (job, host))
  GROUP BY job)
ARRAY JOIN each AS b
