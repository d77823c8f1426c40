-- How far the wall clock of a recording is ahead of those of the other machines of its job. All ranks leave a
-- collective operation at one moment, so the ends of its work on the GPUs tell it. operations: how many told it. No
-- row: nothing told it. Jobs are numbers on the way: millions of rows are grouped by numbers in seconds.
SELECT recording, toInt64(quantileExact(0.5)(moment - usual)) AS ahead_ns, count() AS operations
FROM (
  SELECT groupArray(recording) AS recordings_, groupArray(moment) AS moments, quantileExact(0.5)(moment) AS usual
  FROM (
    SELECT job_, recording, communicator, nth, start_ns + gpu_end_ AS moment
    FROM (SELECT recording, communicator, nth, assumeNotNull(gpu_end) AS gpu_end_ FROM collective_calls
          WHERE gpu_end IS NOT NULL /*? AND job = :job */) AS made
    GLOBAL ANY LEFT JOIN (
      SELECT recording, start_ns, cityHash64(job) AS job_ FROM recordings WHERE 1 /*? AND job = :job */)
      AS begun USING (recording)
    WHERE job_ != 0)
  GROUP BY job_, communicator, nth)
ARRAY JOIN recordings_ AS recording, moments AS moment
GROUP BY recording
