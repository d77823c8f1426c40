-- Memory in use over time, by process and device
-- about: One row for each millisecond in which something was allocated or freed. The highest use of each rank: --sort
-- about: -used_bytes.
-- sort: -peak_bytes
-- limit: 60
-- leave: job frees allocs pid
-- none: no memory was allocated
-- column: job             text      its job
-- column: host            text      its machine
-- column: time_ns     time     end of what the row covers, since the start of its recording
-- column: pid         id       process
-- column: rank        count    of the process in a distributed job
-- column: device      id       as the process numbers it
-- column: kind        text     device, graph, managed, array, physical (hipMemCreate), host (pinned), registered,
--   reserved, imported or mapped
-- column: used_bytes  bytes    in use then
-- column: peak_bytes  bytes    the most in that millisecond
-- column: allocs      count    allocations in that millisecond
-- column: frees       count    frees in that millisecond
-- column: percent     percent  in use, by the highest of that device and kind
SELECT job, host, ms * 1000000 AS time_ns, pid, rank, device, kind, used AS used_bytes, m.peak AS peak_bytes, allocs,
  frees,
  round(100 * used / nullIf(most, 0), 1) AS percent
FROM (SELECT job, host, recording, ms, pid, rank, device, kind, used, peak, allocs, frees FROM memory_timeline
      WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND pid = :pid */
        /*? AND device = :device */) AS m
GLOBAL ANY LEFT JOIN (SELECT recording, pid, device, kind, max(peak) AS most FROM memory_timeline WHERE 1
  /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND pid = :pid */
                      GROUP BY recording, pid, device, kind) AS peaks USING (recording, pid, device, kind)
WHERE 1 /*? AND time_ns >= :from */ /*? AND time_ns < :to */
