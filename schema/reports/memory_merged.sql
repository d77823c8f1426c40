-- Memory in use over time, all processes added up, by device
-- about: Devices have the number that the processes give them. A peak is at most so high: what rose in the same
--   millisecond in several processes is added up.
-- hidden: a variant of memory
-- sort: time_ns
-- limit: 60
-- leave: frees allocs
-- none: no memory was allocated
-- topic: memory
-- rows: of single calls
-- events: mem
-- column: time_ns     time     end of what the row covers
-- column: device      id       as the processes number it
-- column: kind        text     device, graph, managed, array, physical (hipMemCreate), host (pinned), registered,
--   reserved, imported or mapped
-- column: used_bytes  bytes    in use then
-- column: peak_bytes  bytes    the most in that millisecond
-- column: allocs      count    allocations in that millisecond
-- column: frees       count    frees in that millisecond
-- column: percent     percent  in use, by the highest of that device and kind
WITH change AS (
  SELECT session, ms, device, kind, allocs, frees, used - coalesce(lag(used) OVER own, 0) AS more,
         max(peak - coalesce(lag(used) OVER own, 0), 0) AS rise
  FROM memory_timeline
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND device = :device */
  WINDOW own AS (PARTITION BY session, pid, device, kind ORDER BY ms)),
moment AS (SELECT session, ms, device, kind, sum(allocs) AS allocs, sum(frees) AS frees,
                  sum(more) AS more, sum(rise) AS rise FROM change GROUP BY 1, 2, 3, 4),
total AS (SELECT *, sum(more) OVER (PARTITION BY session, device, kind ORDER BY ms) AS used FROM moment)
SELECT ms * 1000000 AS time_ns, device, kind, used AS used_bytes, max(used, used - more + rise) AS peak_bytes,
       allocs, frees,
       round(100.0 * used / nullif(max(max(used, used - more + rise)) OVER (PARTITION BY session, device, kind), 0),
             1) AS percent
FROM total
WHERE true /*? AND ms >= :from / 1000000 */ /*? AND ms < :to / 1000000 */
