-- For each step of several ranks the process that was late (role 1) and the one in the middle by duration (role 2; 3:
-- it is both), with figures of the step. Only for these the report reads the parts of their time. Numbers alone are
-- grouped here, so that millions of rows take seconds.
-- figures: ranks, whether all of them met, the medians of met, of work on the GPU, of clock and temperature; of the
-- late one rank, duration, met, work on the GPU; of the one in the middle rank and duration. -1: not known.
SELECT step AS idx, w.1 AS recording, w.2 AS pid, w.3 AS role,
  (ranks, has_met, usual_met, usual_gpu, usual_mhz, usual_celsius, late_rank, durations[late_at], mets[late_at],
    owns[late_at], usual_rank, usual_ns) AS figures
FROM (
  SELECT job_, step, count() AS ranks, min(met) >= 0 AS has_met, toInt64(quantileExact(0.5)(met)) AS usual_met,
    toInt64(quantileExact(0.5)(own_gpu)) AS usual_gpu, quantileExact(0.5)(mhz_) AS usual_mhz,
    quantileExact(0.5)(celsius_) AS usual_celsius, groupArray(recording) AS recordings, groupArray(pid) AS pids,
    groupArray(rank_) AS ranks_, groupArray(duration_) AS durations, groupArray(met) AS mets,
    groupArray(own_gpu) AS owns, arrayMap((m, d) -> if(m < 0, -d, m), mets, durations) AS keys,
    min(if(met < 0, -duration_, met)) AS least,
    arrayReduce('min', arrayFilter((r, k) -> k = least, ranks_, keys)) AS late_rank,
    arrayFirstIndex((r, k) -> r = late_rank AND k = least, ranks_, keys) AS late_at,
    arrayReverseSort(durations)[intDiv(count(), 2) + 1] AS usual_ns,
    arraySort(arrayFilter((r, d) -> d = usual_ns, ranks_, durations))[
      intDiv(count(), 2) + 1 - arrayCount(d -> d > usual_ns, durations)] AS usual_rank,
    arrayFirstIndex((r, d) -> r = usual_rank AND d = usual_ns, ranks_, durations) AS usual_at
  FROM (
    SELECT cityHash64(job) AS job_, recording, pid, idx AS step, assumeNotNull(rank) AS rank_,
      assumeNotNull(duration) AS duration_, ifNull(met_ns, -1) AS met,
      if(gpu_ns IS NULL, -1, assumeNotNull(gpu_ns) - ifNull(met_ns, 0)) AS own_gpu, ifNull(mhz, 0) AS mhz_,
      ifNull(celsius, 0) AS celsius_
    FROM rank_steps WHERE rank IS NOT NULL AND duration IS NOT NULL /*? AND job = :job */ /*? AND match(name, :name) */)
  GROUP BY job_, step
  HAVING ranks > 1)
ARRAY JOIN if(late_at = usual_at, [(recordings[late_at], pids[late_at], toUInt8(3))],
  [(recordings[late_at], pids[late_at], toUInt8(1)), (recordings[usual_at], pids[usual_at], toUInt8(2))]) AS w
