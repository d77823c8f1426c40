-- What was live when an allocation found no memory, by the place that allocated it
-- hidden: the page of oom shows it
-- limit: 40
-- leave: largest_bytes kind library caller name stack percent
-- none: no allocation failed for want of memory
-- topic: allocations
-- rows: of single calls
-- events: mem
-- column: oom            id       number of the failure
-- column: kind           text     as in oom
-- column: n              count    allocations live then
-- column: size_bytes     bytes    all together
-- column: percent        percent  of what was live then of that memory
-- column: largest_bytes  bytes    the largest
-- column: name           text     function that allocated
-- column: user_line      text     your own line: the innermost outside of packages (--skip-frames)
-- column: library        text     that called it
-- column: caller         text     where it was called from
-- column: stack          id       stack of the call, where one was taken
WITH place AS (
  SELECT o.id AS oom, a.kind, a.name, a.caller_library AS library, a.caller,
         a.stack, count(*) AS n, sum(a.size) AS size_bytes, max(a.size) AS largest_bytes
  FROM ooms o JOIN allocations a ON a.session = o.session AND a.pid = o.pid
     AND a.device = o.device AND a.memory = o.memory
  WHERE a.start < o.start AND (a."end" IS NULL OR a."end" > o.start)
    /*? AND o.session = :session */ /*? AND o.pid = :pid */
    /*? AND (o.session, o.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND o.device = :device */ /*? AND o.name REGEXP :name */
  GROUP BY o.id, a.kind, a.name, a.caller_library, a.caller, a.stack
)
SELECT x.oom, x.kind, x.n, x.size_bytes,
       round(100.0 * x.size_bytes / nullif(sum(x.size_bytes) OVER (PARTITION BY x.oom), 0), 1) AS percent,
       x.largest_bytes, x.name, (SELECT u.user_line FROM user_lines u WHERE u.stack = x.stack) AS user_line,
       x.library, x.caller, x.stack
FROM place x ORDER BY x.oom, x.size_bytes DESC, x.n DESC
