-- The peak and the sums of each series. SQLite takes time_ns from the row of the maximum.
-- over: memory
SELECT pid, rank, device, kind, max(peak_bytes) AS peak, time_ns AS peak_at, sum(allocs) AS allocs, sum(frees) AS frees,
       first, last
FROM (SELECT x.*, min(time_ns) OVER () AS first, max(time_ns) OVER () AS last FROM report x)
GROUP BY pid, rank, device, kind
