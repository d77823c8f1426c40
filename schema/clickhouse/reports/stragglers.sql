-- The same step on all ranks: which rank was late, and why
-- about: With times of GPUs (fade-run --gpu-times) the late rank is the one that the others met last in the collective
-- about: operations of the step. Otherwise it is the rank whose step took longest. Its figures are compared with those
-- about: of the rank in the middle.
-- sort: -late_ns
-- limit: 20
-- leave: by pid celsius usual_celsius start_ns name usual_waited_ns waited_ns usual_rank usual_ns duration_ns more_ns
--   job
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
-- column: category         text      where it spent most time more: GPU, OUTSIDE of calls, or as in fade-query
--   categories
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
SELECT job, step, name, ranks, rank, host, pid, start + shift AS start_ns,
  if(has_met, usual_met - met_ns, more_ns) AS late_ns, duration_ns, usual_rank, usual_ns,
  duration_ns - usual_ns AS more_ns,
  if(top.1 < 0, top.2, NULL) AS category, if(top.1 < 0, -top.1, NULL) AS category_ns,
  if(own_gpu < 0, NULL, own_gpu) AS gpu_ns, if(own_gpu < 0, NULL, usual_gpu) AS usual_gpu_ns,
  if(has_met, met_ns, NULL) AS waited_ns, if(has_met, usual_met, NULL) AS usual_waited_ns,
  if(late_mhz > 0, late_mhz, NULL) AS mhz, if(late_mhz > 0, usual_mhz_, NULL) AS usual_mhz,
  if(late_celsius > 0, late_celsius, NULL) AS celsius, if(late_celsius > 0, usual_celsius_, NULL) AS usual_celsius,
  if(has_met, 'collectives', 'duration') AS by
FROM (
  SELECT job, step, any(recording) AS recording, any(name) AS name, any(host) AS host, any(pid) AS pid,
    any(start) AS start,
    any(late_mhz) AS late_mhz, any(late_celsius) AS late_celsius, any(figures_) AS figures,
    figures.1 AS ranks, figures.2 AS has_met, figures.3 AS usual_met, figures.4 AS usual_gpu, figures.5 AS usual_mhz_,
    figures.6 AS usual_celsius_, figures.7 AS rank, figures.8 AS duration_ns, figures.9 AS met_ns,
    figures.10 AS own_gpu, figures.11 AS usual_rank, figures.12 AS usual_ns,
    arraySort(groupArray((-more, word)))[1] AS top
  FROM (
    SELECT job, step, any(recording_) AS recording, any(name_) AS name, any(host_) AS host, any(pid_) AS pid,
      any(start_) AS start, any(mhz_) AS late_mhz, any(celsius_) AS late_celsius, any(figures) AS figures_,
      w.1 AS word, sum(w.2) AS more
    FROM (
      SELECT job, step, anyIf(recording, is_late) AS recording_, anyIf(name, is_late) AS name_,
        anyIf(host, is_late) AS host_, anyIf(pid, is_late) AS pid_, anyIf(start, is_late) AS start_,
        anyIf(toFloat64(ifNull(mhz, 0)), is_late) AS mhz_, anyIf(toFloat64(ifNull(celsius, 0)), is_late) AS celsius_,
        any(figures) AS figures, anyIf(parts, is_late) AS late_parts, anyIf(parts, is_usual) AS usual_parts
      FROM (
        SELECT job, idx AS step, recording, name, host, pid, start, mhz, celsius, bitAnd(role, 1) > 0 AS is_late,
          bitAnd(role, 2) > 0 AS is_usual, figures,
          concat(categories, if(categories = '', '', ','), 'OUTSIDE:', toString(ifNull(outside_ns, 0)), ':0') AS parts
        FROM (SELECT job, recording, pid, idx, name, host, start, mhz, celsius, categories, outside_ns FROM rank_steps
              WHERE rank IS NOT NULL AND duration IS NOT NULL /*? AND job = :job */ /*? AND match(name, :name) */)
          AS made
        GLOBAL ALL INNER JOIN ({step_roles}) AS roles USING (recording, pid, idx))
      GROUP BY job, step)
    ARRAY JOIN arrayConcat(
      arrayMap(x -> (splitByChar(':', x)[1], toInt64(splitByChar(':', x)[2])), splitByChar(',', late_parts)),
      arrayMap(x -> (splitByChar(':', x)[1], -toInt64(splitByChar(':', x)[2])), splitByChar(',', usual_parts)),
      [('GPU', if(figures.10 < 0, toInt64(0), toInt64(figures.10 - figures.4)))]) AS w
    GROUP BY job, step, word)
  GROUP BY job, step) AS made
GLOBAL ANY LEFT JOIN ({begins}) AS begins USING (job, recording)
WHERE 1 /*? AND rank = :rank */ /*? AND host = :host */ /*? AND start_ns >= :from */ /*? AND start_ns < :to */
