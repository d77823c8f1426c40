-- How far the wall clock of each machine of a job is ahead of the others. All ranks leave a collective operation at one
-- moment, so the ends of its work on the GPUs tell it. operations: how many told it. No row: nothing told it.
SELECT job, e.1 AS host, toInt64(quantileExact(0.5)(e.2 - usual)) AS ahead_ns, count() AS operations
FROM (
  SELECT job, communicator, nth, groupArray((host, moment)) AS ends, quantileExact(0.5)(moment) AS usual
  FROM (
    SELECT job, host, communicator, nth, start_ns + assumeNotNull(gpu_end) AS moment
    FROM collective_calls
    GLOBAL ANY INNER JOIN (SELECT recording, start_ns FROM recordings WHERE 1 /*? AND job = :job */) AS begun
      USING (recording)
    WHERE gpu_end IS NOT NULL /*? AND job = :job */)
  GROUP BY job, communicator, nth)
ARRAY JOIN ends AS e
GROUP BY job, host
