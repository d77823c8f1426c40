-- What was in use at the peak
-- about: For each device the moment at which the most of its memory was in use, and another one for pinned memory of
--   the host. Reserved addresses and memory of other processes do not count. On a terminal a page with the stacks;
--   --by-line adds up by your own line; as a tree: fade-query flame --weight peak.
-- hidden: a variant of memory
-- limit: 40
-- leave: pid largest_bytes kind memory device caller library name stack percent user_line
-- none: no memory was allocated
-- topic: allocations
-- rows: of single calls
-- events: mem
-- column: pid            id       process
-- column: rank           count     of the process in a distributed job
-- column: device         id       as the process numbers it
-- column: memory         text     of the device, or pinned memory of the host
-- column: kind           text     device, graph, managed, array, physical (hipMemCreate); host (pinned) or registered
--   (hipHostRegister)
-- column: n              count    allocations live at the peak
-- column: size_bytes     bytes    all together
-- column: percent        percent  of what was live at that moment
-- column: largest_bytes  bytes    the largest
-- column: name           text     function that allocated
-- column: user_line      text     your own line: the innermost outside of packages (--skip-frames); empty: none is
--   known, or no stack was taken
-- column: frames         text     the three innermost frames of the program's own code, innermost first
-- column: library        text     that called it
-- column: caller         text     where it was called from
-- column: stack          id       stack of the call, where one was taken: fade-query stacks --stack ID
WITH place AS (
  SELECT a.session, a.pid, a.device, a.memory, a.kind, a.name, a.caller_library AS library,
         a.caller, a.stack, count(*) AS n, sum(a.size) AS size_bytes, max(a.size) AS largest_bytes
  FROM allocations a JOIN memory_totals m ON m.session = a.session AND m.pid = a.pid
     AND m.device IS a.device AND m.memory = a.memory
  WHERE a.start <= m.peak_at AND (a."end" IS NULL OR a."end" > m.peak_at)
    /*? AND a.session = :session */ /*? AND a.pid = :pid */
    /*? AND (a.session, a.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND a.device = :device */
  GROUP BY a.session, a.pid, a.device, a.memory, a.kind, a.name, a.caller_library, a.caller, a.stack
),
ranked AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY 1, 2)
SELECT x.pid, r.rank, x.device, x.memory, x.kind, sum(x.n) AS n, sum(x.size_bytes) AS size_bytes,
       round(100.0 * sum(x.size_bytes) / nullif(sum(sum(x.size_bytes)) OVER (PARTITION BY x.session,
               x.pid, x.device, x.memory), 0), 1) AS percent,
       max(x.largest_bytes) AS largest_bytes, x.name,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = x.stack) AS user_line,
       iif(:by_line, NULL, t.frames) AS frames, iif(:by_line, NULL, x.library) AS library,
       iif(:by_line, NULL, x.caller) AS caller, iif(:by_line, NULL, x.stack) AS stack
FROM place x LEFT JOIN stack_tops t ON t.stack = x.stack LEFT JOIN ranked r ON r.session = x.session AND r.pid = x.pid
GROUP BY x.session, x.pid, x.device, x.memory, x.kind, x.name, user_line,
       iif(:by_line, NULL, x.stack), iif(:by_line, NULL, x.library), iif(:by_line, NULL, x.caller)
ORDER BY x.session, x.pid, x.device, x.memory, size_bytes DESC, n DESC
