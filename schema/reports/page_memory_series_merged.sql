-- As page_memory_series, for the report without processes.
-- over: memory_merged
SELECT device, kind, max(peak_bytes) AS peak, time_ns AS peak_at, sum(allocs) AS allocs, sum(frees) AS frees, first,
       last
FROM (SELECT x.*, min(time_ns) OVER () AS first, max(time_ns) OVER () AS last FROM report x)
GROUP BY device, kind
