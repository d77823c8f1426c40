-- Memory that was never freed, by the place that allocated it
-- about: Live when its process or the recording ended. Places that grow with the program's steps or ranges come first:
--   they are leaks. Memory that was allocated once is mostly left to the driver. On a terminal a page with the stacks;
--   --by-line adds up by your own line; as a tree: fade-query flame --weight leaks.
-- limit: 40
-- leave: pid largest_bytes age_ns kind device caller library name stack percent user_line
-- none: all memory was freed, or none was allocated
-- question: memory
-- topic: memory
-- rows: of single calls
-- events: mem
-- column: pid            id        process
-- column: rank           count     of the process in a distributed job
-- column: device         id        as the process numbers it
-- column: kind           text      device, graph (by its launch), managed, array, physical (hipMemCreate), host
--   (pinned), registered, reserved (addresses only), imported (another's) or mapped (a view of it)
-- column: n              count     allocations live at the end
-- column: size_bytes     bytes     all together
-- column: grows          text      where it grows with the program's steps or ranges (memory_growth): how many of them
--   left memory there
-- column: percent        percent   of what was never freed of that kind and device
-- column: largest_bytes  bytes     the largest
-- column: age_ns         duration  of the oldest, until its process ended
-- column: name           text      function that allocated
-- column: user_line      text      your own line: the innermost outside of packages (--skip-frames); empty: none is
--   known, or no stack was taken
-- column: frames         text      the three innermost frames of the program's own code, innermost first
-- column: library        text      that called it
-- column: caller         text      where it was called from
-- column: stack          id        stack of the call, where one was taken: fade-query stacks --stack ID
WITH place AS (
  SELECT a.session, a.pid, a.device, a.kind, a.name, a.caller_library AS library, a.caller,
         a.stack, count(*) AS n, sum(a.size) AS size_bytes, max(a.size) AS largest_bytes, min(a.start) AS since
  FROM allocations a
  WHERE a."end" IS NULL
    /*? AND a.session = :session */ /*? AND a.pid = :pid */
    /*? AND (a.session, a.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND a.device = :device */
    /*? AND a.name REGEXP :name */
  GROUP BY a.session, a.pid, a.device, a.kind, a.name, a.caller_library, a.caller, a.stack
),
growth AS MATERIALIZED (
  SELECT session, pid, device, kind, name, stack, max(turns_with) AS turns_with,
         turns, turn FROM memory_growth GROUP BY 1, 2, 3, 4, 5, 6),
ranked AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY 1, 2),
located AS (
  SELECT p.*, g.turns_with, g.turns, g.turn FROM place p LEFT JOIN growth g ON g.session = p.session AND g.pid = p.pid
   AND g.device = p.device AND g.kind = p.kind AND g.name = p.name AND g.stack IS p.stack)
SELECT x.pid, r.rank, x.device, x.kind, sum(x.n) AS n, sum(x.size_bytes) AS size_bytes,
       'in ' || max(x.turns_with) || ' of ' || max(x.turns) || ' ' || max(x.turn) || 's' AS grows,
       round(100.0 * sum(x.size_bytes) / nullif(sum(sum(x.size_bytes)) OVER (PARTITION BY x.session,
               x.pid, x.device, x.kind), 0), 1) AS percent,
       max(x.largest_bytes) AS largest_bytes, (SELECT max(p."end") FROM processes p WHERE p.session = x.session
                                                  AND p.pid = x.pid) - min(x.since) AS age_ns, x.name,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = x.stack) AS user_line,
       iif(:by_line, NULL, t.frames) AS frames, iif(:by_line, NULL, x.library) AS library,
       iif(:by_line, NULL, x.caller) AS caller, iif(:by_line, NULL, x.stack) AS stack
FROM located x LEFT JOIN stack_tops t ON t.stack = x.stack LEFT JOIN ranked r ON r.session = x.session AND r.pid = x.pid
GROUP BY x.session, x.pid, x.device, x.kind, x.name, user_line, iif(:by_line, NULL, x.stack),
       iif(:by_line, NULL, x.library), iif(:by_line, NULL, x.caller)
ORDER BY max(x.turns_with) IS NULL, 6 DESC
