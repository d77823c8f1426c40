-- What was live when the most memory was in use
-- about: For each device the moment at which the most of its memory was in use, and another one for pinned memory of the host. Reserved addresses and memory of other processes do not count.
-- hidden: a variant of memory
-- sort: -size_bytes
-- limit: 40
-- leave: stack largest_bytes memory pid percent
-- column: pid            id       process
-- column: device         id       as the process numbers it
-- column: memory         text     of the device, or pinned memory of the host
-- column: kind           text     device, graph, managed, array, physical (hipMemCreate); host (pinned) or registered (hipHostRegister)
-- column: name           text     function that allocated
-- column: library        text     that called it
-- column: caller         text     where it was called from
-- column: stack          id       stack of the call, where one was taken
-- column: n              count    allocations live at the peak
-- column: size_bytes     bytes    all together
-- column: largest_bytes  bytes    the largest
-- column: percent        percent  of what was live at that moment
WITH live AS (
  SELECT a.* FROM allocations a JOIN memory_totals m ON m.session = a.session AND m.pid = a.pid AND m.device = a.device AND m.memory = a.memory
  WHERE a.start <= m.peak_at AND (a."end" IS NULL OR a."end" > m.peak_at)
    /*? AND a.session = :session */ /*? AND a.pid = :pid */ /*? AND a.device = :device */
)
SELECT pid, device, memory, kind, name, caller_library AS library, caller, stack, count(*) AS n, sum(size) AS size_bytes, max(size) AS largest_bytes,
       round(100.0 * sum(size) / nullif(sum(sum(size)) OVER (PARTITION BY session, pid, device, memory), 0), 1) AS percent
FROM live
GROUP BY session, pid, device, memory, kind, name, caller_library, caller, stack
