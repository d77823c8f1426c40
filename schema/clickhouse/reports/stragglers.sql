-- The same step on all ranks: which rank was late, and why
-- about: With times of GPUs (fade-run --gpu-times) the late rank is the one that the others met last in the collective
-- about: operations of the step. Otherwise it is the rank whose step took longest. Its figures are compared with those
-- about: of the rank in the middle.
-- sort: -late_ns
-- limit: 20
-- leave: by pid celsius usual_celsius start_ns name usual_waited_ns waited_ns usual_rank usual_ns duration_ns more_ns job
-- none: no steps of several ranks were sent
-- column: job              text      its job
-- column: step             count     counts from 1 in each rank
-- column: name             text      the range, or the function between whose calls it lies
-- column: ranks            count     that made it
-- column: rank             count     the late one
-- column: host             text      its machine
-- column: pid              id        its process
-- column: start_ns         time      when it began the step, since the begin of the job
-- column: late_ns          duration  how much later than the rank in the middle
-- column: duration_ns      duration  how long it took
-- column: usual_rank       count     the rank in the middle, by duration
-- column: usual_ns         duration  how long it took there
-- column: more_ns          duration  what the late rank took longer
-- column: category         text      where it spent most time more: GPU, OUTSIDE of calls, or as in fade-query categories
-- column: category_ns      duration  how much longer it was there
-- column: gpu_ns           duration  its own work on the GPU, without collective operations
-- column: usual_gpu_ns     duration  the same, half of the ranks at most
-- column: waited_ns        duration  how long its work of collective operations waited for the other ranks
-- column: usual_waited_ns  duration  the same, of the rank in the middle
-- column: mhz              number    clock of its GPU, by the sensor
-- column: usual_mhz        number    clock of the GPUs of other ranks, the median
-- column: celsius          number    temperature of its GPU
-- column: usual_celsius    number    the median of the other ranks
-- column: by               text      what tells the late rank: collectives, or duration
SELECT job, step, name, ranks, late.2 AS rank, late.3 AS host, late.4 AS pid, late.5 + shift AS start_ns,
  if(has_met, usual_met - late.7, more_ns) AS late_ns, late.6 AS duration_ns, usual.2 AS usual_rank,
  -usual.1 AS usual_ns, late.6 - usual_ns AS more_ns, if(top.1 < 0, top.2, NULL) AS category, if(top.1 < 0, -top.1,
    NULL) AS category_ns,
  if(late.8 < 0, NULL, late.8) AS gpu_ns, if(late.8 < 0, NULL, usual_gpu) AS usual_gpu_ns,
  if(has_met, late.7, NULL) AS waited_ns, if(has_met, usual_met, NULL) AS usual_waited_ns,
  if(late.10 > 0, late.10, NULL) AS mhz, if(late.10 > 0, usual_mhz_, NULL) AS usual_mhz,
  if(late.11 > 0, late.11, NULL) AS celsius, if(late.11 > 0, usual_celsius_, NULL) AS usual_celsius,
  if(has_met, 'collectives', 'duration') AS by
FROM (
  SELECT job, step, about.1 AS name, about.2 AS ranks, about.3 AS has_met, about.4 AS usual_met, about.5 AS usual_gpu,
    about.6 AS usual_mhz_, about.7 AS usual_celsius_, late, usual, late.9 AS recording, top
  FROM (
    SELECT job, step, any(about_) AS about, any(late_) AS late, any(usual_) AS usual,
      arraySort(groupArray((-more, word)))[1] AS top
    FROM (
      SELECT job, step, any((name_, ranks, has_met, usual_met, usual_gpu, usual_mhz_, usual_celsius_)) AS about_,
        any(late) AS late_, any(usual) AS usual_, w.1 AS word, sum(w.2) AS more
      FROM (
      SELECT job, step, any(name) AS name_, count() AS ranks, min(met_ns) >= 0 AS has_met,
        toInt64(quantileExact(0.5)(met_ns)) AS usual_met, toInt64(quantileExact(0.5)(own_gpu_ns)) AS usual_gpu,
        quantileExact(0.5)(mhz_) AS usual_mhz_, quantileExact(0.5)(celsius_) AS usual_celsius_,
        arraySort(groupArray((-duration_, rank_, parts)))[intDiv(count(), 2) + 1] AS usual,
        arraySort(groupArray((if(met_ns < 0, -duration_, met_ns), rank_, host, pid, start, duration_, met_ns,
          own_gpu_ns,
                              recording, mhz_, celsius_, parts)))[1] AS late
    FROM (
      SELECT job, step, name, recording, host, pid, start, assumeNotNull(rank) AS rank_,
        assumeNotNull(duration) AS duration_,
        if(operations = 0, toInt64(-1), met) AS met_ns,
        if(gpu_ns IS NULL, toInt64(-1), toInt64(assumeNotNull(gpu_ns)) - met) AS own_gpu_ns,
        toFloat64(ifNull(mhz, 0)) AS mhz_, toFloat64(ifNull(celsius, 0)) AS celsius_,
        concat(categories, if(categories = '', '', ','), 'OUTSIDE:', toString(ifNull(outside_ns, 0)), ':0') AS parts
      FROM (SELECT *, idx AS step FROM rank_steps WHERE rank IS NOT NULL AND duration IS NOT NULL
              /*? AND job = :job */ /*? AND match(name, :name) */) AS made
      GLOBAL ANY LEFT JOIN (
        SELECT recording, rank, assumeNotNull(step) AS step, count() AS operations,
          toInt64(sum(assumeNotNull(gpu_end) - assumeNotNull(gpu_start))) AS met
        FROM collective_calls WHERE step IS NOT NULL AND gpu_end IS NOT NULL AND rank IS NOT NULL /*? AND job = :job */
        GROUP BY recording, rank, step) AS works USING (recording, rank, step))
      GROUP BY job, step
      HAVING ranks > 1)
    ARRAY JOIN arrayConcat(
      arrayMap(x -> (splitByChar(':', x)[1], toInt64(splitByChar(':', x)[2])), splitByChar(',', late.12)),
      arrayMap(x -> (splitByChar(':', x)[1], -toInt64(splitByChar(':', x)[2])), splitByChar(',', usual.3)),
      [('GPU', if(late.8 < 0, toInt64(0), toInt64(late.8 - usual_gpu)))]) AS w
      GROUP BY job, step, word)
    GROUP BY job, step)) AS compared
GLOBAL ANY LEFT JOIN ({begins}) AS begins USING (job, recording)
WHERE 1 /*? AND rank = :rank */ /*? AND host = :host */ /*? AND start_ns >= :from */ /*? AND start_ns < :to */
