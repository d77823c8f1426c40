-- From launch to start: how long kernels waited before the GPU ran them
-- about: From the entry of the launching call on the host to the start on the GPU. Of a launch of a graph, the first
--   kernel counts.
-- about: Much delay means that the host is ahead, or that work before took long. Little delay and an idle GPU mean that
--   the host is too slow.
-- about: Both times are CLOCK_BOOTTIME in ns. The driver compares the GPU's clock now and then: some microseconds of
--   error; early counts the starts
-- about: that came before the entry. fade's own stops at the entry belong to the delay.
-- sort: -total_ns
-- limit: 40
-- leave: early min_ns p50_ns p99_ns stream
-- none: no launch has a time of the GPU
-- question: work
-- topic: kernels
-- record: --gpu-times
-- column: name      text      of the kernel
-- column: stream    text      handle of the stream; empty: not known
-- column: n         count     launches
-- column: total_ns  duration  all delays
-- column: avg_ns    duration  of one
-- column: min_ns    duration  the shortest
-- column: p50_ns    duration  half waited at most this long (from a histogram, about 20 % exact)
-- column: p95_ns    duration  95 % waited at most this long
-- column: p99_ns    duration  99 of 100 waited at most this long
-- column: max_ns    duration  the longest
-- column: early     count     of these, starts before the entry, counted as 0
SELECT name, stream_hex AS stream, sum(n) AS n, sum(total_ns) AS total_ns,
       sum(total_ns) / sum(n) AS avg_ns, min(min_ns) AS min_ns,
       fade_percentile(hist, 0.5, min_ns, max_ns) AS p50_ns, fade_percentile(hist, 0.95, min_ns, max_ns) AS p95_ns,
       fade_percentile(hist, 0.99, min_ns, max_ns) AS p99_ns, max(max_ns) AS max_ns, sum(early) AS early
FROM gpu_delays
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND name REGEXP :name */
GROUP BY name, stream_id
