-- For each step with collective operations of all ranks the rank that made the others wait: its work in them ended
-- soonest after it began. Each rank measures that by its own clock, so no clocks are compared. Jobs are numbers on the
-- way: millions of rows are grouped by numbers in seconds.
SELECT job, step, ranks, late_rank, usual_met_ns, late_met_ns, late_ns
FROM (
  SELECT cityHash64(job) AS job_, idx AS step, count() AS ranks, min(assumeNotNull(met_ns)) AS late_met_ns,
    arrayReduce('min', arrayFilter((r, m) -> m = late_met_ns, groupArray(assumeNotNull(rank)),
      groupArray(assumeNotNull(met_ns)))) AS late_rank,
    toInt64(quantileExact(0.5)(assumeNotNull(met_ns))) AS usual_met_ns, usual_met_ns - late_met_ns AS late_ns
  FROM rank_steps WHERE met_ns IS NOT NULL AND rank IS NOT NULL /*? AND job = :job */
  GROUP BY job_, step
  HAVING ranks > 1) AS made
GLOBAL ALL INNER JOIN (SELECT DISTINCT job, cityHash64(job) AS job_ FROM recordings WHERE 1 /*? AND job = :job */)
  AS jobs USING (job_)
