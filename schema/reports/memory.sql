-- Memory in use over time, by process and device
-- about: One row for each millisecond in which something was allocated or freed. On a terminal a page with a plot;
--   --merge adds up the ranks and all other processes. With --peak: what was live at the peak.
-- sort: time_ns
-- limit: 60
-- leave: frees allocs pid
-- variant: peak memory_peak
-- variant: merge memory_merged
-- none: no memory was allocated
-- question: memory
-- topic: memory
-- rows: of single calls
-- events: mem
-- column: time_ns     time     end of what the row covers
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
WITH ranked AS MATERIALIZED (SELECT session, pid, rank FROM process_ranks)
SELECT ms * 1000000 AS time_ns, pid, (SELECT max(r.rank) FROM ranked r WHERE r.session = m.session
                                         AND r.pid = m.pid) AS rank, device,
       kind, used AS used_bytes, peak AS peak_bytes, allocs, frees,
       round(100.0 * used / nullif(max(peak) OVER (PARTITION BY session, pid, device, kind), 0), 1) AS percent
FROM memory_timeline m
WHERE true /*? AND ms >= :from / 1000000 */ /*? AND ms < :to / 1000000 */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND device = :device */
