-- Copies by the GPU's own times: direction, bytes, GB/s
-- about: Times of copies that ran at once are added up. Report gpu says which part of the time with copies had kernels
--   as well.
-- sort: -total_ns
-- limit: 40
-- leave: max_ns avg_bytes
-- none: no copy has a time of the GPU
-- question: work
-- topic: copies
-- record: --gpu-times
-- column: direction  text      h2d, d2h, d2d or h2h; other: its call is not known, or a graph did it
-- column: pid        id        process
-- column: device     id        ordinal of the device; empty: not known
-- column: n          count     copies on the GPU; a call may need several
-- column: bytes      bytes     all of them
-- column: avg_bytes  bytes     of one
-- column: total_ns   duration  time of the GPU, added up
-- column: avg_ns     duration  of one
-- column: max_ns     duration  the longest
-- column: gb_per_s   number    bytes by total time
SELECT direction, pid, device, sum(n) AS n, sum(bytes) AS bytes, sum(bytes) / sum(n) AS avg_bytes,
       sum(total_ns) AS total_ns,
       sum(total_ns) / sum(n) AS avg_ns, max(max_ns) AS max_ns,
       round(1.0 * nullif(sum(bytes), 0) / nullif(sum(total_ns), 0), 2) AS gb_per_s
FROM gpu_copies
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND device = :device */
  /*? AND direction REGEXP :name */
GROUP BY session, process_id, direction, device
