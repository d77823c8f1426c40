-- Kernels, copies and fills by their time on the GPU
-- about: Times are those of the GPU, added up over queues that work at once. Count, total, average, shortest and
--   longest are exact.
-- hidden: a variant of top
-- sort: -total_ns
-- limit: 30
-- leave: p99_ns p50_ns min_ns p95_ns device
-- none: no work of a GPU has a time
-- topic: kernels
-- record: --gpu-times
-- column: name      text      of the kernel, also of a kernel of the runtime that copies or fills; else copy or fill
-- column: device    id        ordinal of the device; empty: not known
-- column: n         count     how often
-- column: total_ns  duration  time of the GPU, added up
-- column: percent   percent   of the time of all works, added up
-- column: avg_ns    duration  of one
-- column: min_ns    duration  the shortest
-- column: p50_ns    duration  half took at most this long (from a histogram, about 20 % exact)
-- column: p95_ns    duration  95 % took at most this long
-- column: p99_ns    duration  99 of 100 took at most this long
-- column: max_ns    duration  the longest
WITH mine AS MATERIALIZED (
  SELECT * FROM gpu_stats WHERE kind <> 'barrier' /*? AND session = :session */
    /*? AND pid = :pid */ /*? AND device = :device */)
SELECT name, device, sum(n) AS n, sum(total_ns) AS total_ns,
       round(100.0 * sum(total_ns) / nullif((SELECT sum(total_ns) FROM mine), 0), 2) AS percent,
       sum(total_ns) / sum(n) AS avg_ns,
       min(min_ns) AS min_ns, fade_percentile(hist, 0.5, min_ns, max_ns) AS p50_ns,
       fade_percentile(hist, 0.95, min_ns, max_ns) AS p95_ns,
       fade_percentile(hist, 0.99, min_ns, max_ns) AS p99_ns, max(max_ns) AS max_ns
FROM mine
WHERE true /*? AND name REGEXP :name */
GROUP BY name, device
