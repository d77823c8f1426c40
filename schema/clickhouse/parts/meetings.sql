-- For each step with collective operations of all ranks the rank that made the others wait: its work in them ended
-- soonest after it began. Each rank measures that by its own clock, so no clocks are compared.
SELECT job, step, count() AS ranks, arraySort(groupArray((met_ns, assumeNotNull(rank))))[1].2 AS late_rank,
  toInt64(quantileExact(0.5)(met_ns)) AS usual_met_ns, min(met_ns) AS late_met_ns, usual_met_ns - late_met_ns AS late_ns
FROM (
  SELECT job, assumeNotNull(step) AS step, rank, sum(assumeNotNull(gpu_end) - assumeNotNull(gpu_start)) AS met_ns
  FROM collective_calls WHERE step IS NOT NULL AND gpu_end IS NOT NULL AND rank IS NOT NULL /*? AND job = :job */
  GROUP BY job, step, rank)
GROUP BY job, step
HAVING ranks > 1
