-- How far the wall clock of each machine of a job is ahead of the others. All ranks leave a collective operation at one
-- moment, so the ends of its work on the GPUs tell it. operations: how many told it. No row: nothing told it. Numbers
-- stand for jobs and machines on the way: millions of rows are grouped by them in seconds.
SELECT job, host, ahead_ns, operations
FROM (
  SELECT machine, toInt64(quantileExact(0.5)(moment - usual)) AS ahead_ns, count() AS operations
  FROM (
    SELECT groupArray(machine) AS machines, groupArray(moment) AS moments, quantileExact(0.5)(moment) AS usual
    FROM (
      SELECT job_, machine, communicator, nth, start_ns + gpu_end_ AS moment
      FROM (SELECT recording, communicator, nth, assumeNotNull(gpu_end) AS gpu_end_ FROM collective_calls
            WHERE gpu_end IS NOT NULL /*? AND job = :job */)
      GLOBAL ANY INNER JOIN (
        SELECT recording, start_ns, cityHash64(job) AS job_, cityHash64(job, host) AS machine FROM recordings
        WHERE 1 /*? AND job = :job */) USING (recording))
    GROUP BY job_, communicator, nth)
  ARRAY JOIN machines AS machine, moments AS moment
  GROUP BY machine)
GLOBAL ANY INNER JOIN (
  SELECT DISTINCT job, host, cityHash64(job, host) AS machine FROM recordings WHERE 1 /*? AND job = :job */)
  USING (machine)
