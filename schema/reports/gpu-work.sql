-- Kernels, copies and fills by the GPU's own times
-- about: Times are those of the GPU. Queues that work at once are added up, so the total may be more than the time that
--   passed.
-- about: Report gpu-coverage says how much of the work has a time.
-- sort: -total_ns
-- limit: 40
-- leave: min_ns p50_ns last_ns first_ns p90_ns device gb_per_s
-- none: no work of a GPU has a time
-- question: work
-- topic: kernels
-- record: --gpu-times
-- column: kind      text      kernel, copy, fill or barrier
-- column: name      text      of the kernel, also of a kernel of the runtime that copies or fills; else the kind
-- column: device    id        ordinal of the device
-- column: n         count     how often
-- column: total_ns  duration  time of the GPU, added up
-- column: avg_ns    duration  of one
-- column: min_ns    duration  the shortest
-- column: p50_ns    duration  half took at most this long (from a histogram, about 20 % exact)
-- column: p90_ns    duration  90 % took at most this long
-- column: p99_ns    duration  99 of 100 took at most this long
-- column: max_ns    duration  the longest
-- column: bytes     bytes     of copies and fills
-- column: gb_per_s  number    bytes by total time
-- column: first_ns  time      begin of the first
-- column: last_ns   time      end of the last
SELECT kind, name, device, sum(n) AS n, sum(total_ns) AS total_ns, sum(total_ns) / sum(n) AS avg_ns,
       min(min_ns) AS min_ns,
       fade_percentile(hist, 0.5, min_ns, max_ns) AS p50_ns, fade_percentile(hist, 0.9, min_ns, max_ns) AS p90_ns,
       fade_percentile(hist, 0.99, min_ns, max_ns) AS p99_ns, max(max_ns) AS max_ns, sum(bytes) AS bytes,
       round(1.0 * sum(bytes) / nullif(sum(total_ns), 0), 2) AS gb_per_s, min(first) AS first_ns, max(last) AS last_ns
FROM gpu_stats
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND device = :device */ /*? AND name REGEXP :name */
GROUP BY kind, name, device
