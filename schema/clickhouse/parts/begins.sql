-- For each recording the time from the begin of its job to its own begin, by the clocks of {clocks}. clock: what the
-- comparison between machines rests on: operations of its own, else those of other recordings of its machine, else
-- nothing but the wall clock. A session that began hours later has a difference of its own, because clocks drift.
SELECT job, b.1 AS recording, b.2 - first AS shift, b.3 AS clock
FROM (
  SELECT job, min(begin_ns) AS first, groupArray((recording, begin_ns, clock)) AS each
  FROM (
    SELECT job, r.1 AS recording, r.2 - if(r.4 >= 3, r.3, usual) AS begin_ns,
      multiIf(r.4 >= 3, 'collectives', known > 0, 'collectives of its host', 'NTP') AS clock
    FROM (
      SELECT job, host, groupArray((recording, start_ns, ahead_ns, operations)) AS all,
        countIf(operations >= 3) AS known,
        if(known = 0, toInt64(0), toInt64(quantileExactIf(0.5)(ahead_ns, operations >= 3))) AS usual
      FROM (SELECT job, recording, host, start_ns FROM recordings WHERE 1 /*? AND job = :job */) AS made
      GLOBAL ANY LEFT JOIN ({clocks}) AS clocks USING (recording)
      GROUP BY job, host)
    ARRAY JOIN all AS r)
  GROUP BY job)
ARRAY JOIN each AS b
