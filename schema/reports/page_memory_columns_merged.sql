-- As page_memory_columns, for the report without processes.
-- over: memory_merged
SELECT device, kind, part, max(peak_bytes) AS peak, max(iif(back = 1, used_bytes, NULL)) AS used
FROM (
  SELECT *, row_number() OVER (PARTITION BY device, kind, part ORDER BY time_ns DESC) AS back
  FROM (SELECT x.*, (time_ns - :first) * :width / :span AS part FROM report x))
GROUP BY device, kind, part
ORDER BY part
