-- What was live when the most memory was in use
-- hidden: a variant of memory
-- sort: -size_bytes
-- limit: 40
-- leave: largest_bytes pid percent
-- column: pid            id       process
-- column: device         id       as the process numbers it
-- column: kind           text     device, host (pinned) or managed
-- column: name           text     function that allocated
-- column: caller         text     where it was called from
-- column: n              count    allocations live at the peak
-- column: size_bytes     bytes    all together
-- column: largest_bytes  bytes    the largest
-- column: percent        percent  of what was live at the peak of that device and kind
WITH live AS (
  SELECT a.* FROM allocations a JOIN memory_stats m ON m.session = a.session AND m.pid = a.pid AND m.device = a.device AND m.kind = a.kind
  WHERE a.start <= m.peak_at AND (a."end" IS NULL OR a."end" > m.peak_at)
    /*? AND a.session = :session */ /*? AND a.pid = :pid */ /*? AND a.device = :device */
)
SELECT live.pid, live.device, live.kind, calls.name, calls.caller, count(*) AS n, sum(live.size) AS size_bytes, max(live.size) AS largest_bytes,
       round(100.0 * sum(live.size) / nullif(sum(sum(live.size)) OVER (PARTITION BY live.session, live.pid, live.device, live.kind), 0), 1) AS percent
FROM live LEFT JOIN calls ON calls.id = live.alloc_call
GROUP BY live.session, live.pid, live.device, live.kind, calls.name, calls.caller
