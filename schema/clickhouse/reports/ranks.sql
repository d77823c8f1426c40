-- Ranks: what each did, how often it was the slowest or late, and how it ended
-- about: A rank is late in a step if it is the last one in the collective operations of all ranks (report stragglers).
-- sort: rank
-- limit: 64
-- leave: world_size processes launches exit_signal clock pid errors slowest_in job
-- none: no process with a rank was sent
-- column: job          text      its job
-- column: rank         count     of the job
-- column: host         text      its machine
-- column: world_size   count     how many ranks the job has, as its environment says
-- column: pid          id        its process that called the most
-- column: processes    count     with its environment: its helpers count too
-- column: calls        count     watched calls
-- column: errors       count     of them failed
-- column: launches     count     of kernels and graphs
-- column: steps        count     that it ended
-- column: median_ns    duration  half of them took at most this long
-- column: slowest_in   count     steps in which it was the slowest rank
-- column: late_in      count     steps in which it was the last one in the collective operations
-- column: late_ns      duration  how much later than the rank in the middle, in all these
-- column: waited_ns    net       in calls that wait for the GPU, in steps
-- column: peak_bytes   bytes     GPU memory of its processes, the most of each device added up
-- column: failed_ns    time      when its process ended with a status or by a signal, since the begin of the job
-- column: exit_code    id        status that it ended with
-- column: exit_signal  id        signal that ended it
-- column: clock        text      what times of several machines rest on: collectives, or NTP (their own wall clocks)
SELECT job, rank, maxIf(word, what = 'host') AS host, nullIf(maxIf(a, what = 'host'), 0) AS world_size,
  argMaxIf(a, b, what = 'pid') AS pid, countIf(what = 'pid') AS processes, sumIf(a, what = 'calls') AS calls,
  sumIf(b, what = 'calls') AS errors, sumIf(a, what = 'launches') AS launches,
  if(countIf(what = 'steps') = 0, NULL, sumIf(a, what = 'steps')) AS steps,
  if(countIf(what = 'steps') = 0, NULL, maxIf(b, what = 'steps')) AS median_ns,
  if(countIf(what = 'steps') = 0, NULL, sumIf(a, what = 'slowest')) AS slowest_in, sumIf(a, what = 'late') AS late_in,
  if(countIf(what = 'late') = 0, NULL, sumIf(b, what = 'late')) AS late_ns,
  if(countIf(what = 'waited') = 0, NULL, sumIf(a, what = 'waited')) AS waited_ns,
  if(countIf(what = 'peak') = 0, NULL, sumIf(a, what = 'peak')) AS peak_bytes,
  if(countIf(what = 'end') = 0, NULL, minIf(a, what = 'end')) AS failed_ns,
  if(countIf(what = 'code') = 0, NULL, maxIf(a, what = 'code')) AS exit_code,
  if(countIf(what = 'code') = 0, NULL, nullIf(maxIf(b, what = 'code'), 0)) AS exit_signal,
  maxIf(word, what = 'end') AS clock
FROM (
  SELECT job, rank, 'host' AS what, ifNull(world_size, 0) AS a, toInt64(0) AS b, host AS word FROM process_ranks
  WHERE rank IS NOT NULL /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
  UNION ALL
  SELECT job, rank, 'pid', pid, sum(calls), '' FROM threads WHERE rank IS NOT NULL /*? AND job = :job */
    /*? AND host = :host */ /*? AND rank = :rank */
  GROUP BY job, rank, recording, process_id, pid
  UNION ALL
  SELECT job, rank, 'calls', sum(calls), sum(errors), '' FROM threads WHERE rank IS NOT NULL /*? AND job = :job */
    /*? AND host = :host */ /*? AND rank = :rank */ GROUP BY job, rank
  UNION ALL
  SELECT job, rank, 'launches', sum(launches), toInt64(0), '' FROM process_use WHERE rank IS NOT NULL
    /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
  GROUP BY job, rank
  UNION ALL
  SELECT job, rank, w.1, w.2, w.3, '' FROM (
    SELECT job, rank, toInt64(count()) AS number, toInt64(sum(ifNull(waited_ns, 0))) AS waited,
      arraySort(groupArray(assumeNotNull(duration)))[intDiv(count() + 1, 2)] AS middle
    FROM steps WHERE rank IS NOT NULL AND complete = 1 /*? AND job = :job */ /*? AND host = :host */
      /*? AND rank = :rank */ GROUP BY job, rank)
  ARRAY JOIN [('steps', number, middle), ('waited', waited, toInt64(0))] AS w
  UNION ALL
  SELECT job, toNullable(slow) AS rank, 'slowest', toInt64(count()), toInt64(0), '' FROM ({slowest})
  WHERE 1 /*? AND rank = :rank */ GROUP BY job, slow
  UNION ALL
  SELECT job, toNullable(late_rank) AS rank, 'late', toInt64(count()), toInt64(sum(late_ns)), '' FROM ({meetings})
  WHERE late_ns > 0 /*? AND rank = :rank */ GROUP BY job, late_rank
  UNION ALL
  SELECT job, rank, 'peak', toInt64(sum(ifNull(peak, 0))), toInt64(0), '' FROM memory_totals
  WHERE rank IS NOT NULL AND memory = 'device' /*? AND job = :job */ /*? AND host = :host */
    /*? AND rank = :rank */ GROUP BY job, rank
  UNION ALL
  SELECT job, rank, 'code', toInt64(ifNull(max(exit_code), 0)), toInt64(ifNull(max(exit_signal), 0)), '' FROM processes
  WHERE rank IS NOT NULL AND (exit_code > 0 OR exit_signal > 0) /*? AND job = :job */ /*? AND host = :host */
    /*? AND rank = :rank */ GROUP BY job, rank
  UNION ALL
  SELECT job, rank, 'end', toInt64(min(assumeNotNull("end") + shift)), toInt64(0), any(clock)
  FROM (SELECT job, rank, recording, "end" FROM processes
        WHERE rank IS NOT NULL AND "end" IS NOT NULL AND (exit_code > 0 OR exit_signal > 0) /*? AND job = :job */
          /*? AND host = :host */ /*? AND rank = :rank */) AS ended
  GLOBAL ALL INNER JOIN ({begins}) AS begins USING (job, recording) GROUP BY job, rank)
GROUP BY job, rank
HAVING countIf(what = 'host') > 0
