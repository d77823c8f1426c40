-- The columns of the plots: the most that was in use in the time of each, and the last value. The time from :first on
-- has :width columns of :span ns together.
-- over: memory
SELECT pid, rank, device, kind, part, max(peak_bytes) AS peak, max(iif(back = 1, used_bytes, NULL)) AS used
FROM (
  SELECT *, row_number() OVER (PARTITION BY pid, rank, device, kind, part ORDER BY time_ns DESC) AS back
  FROM (SELECT x.*, (time_ns - :first) * :width / :span AS part FROM report x))
GROUP BY pid, rank, device, kind, part
ORDER BY part
