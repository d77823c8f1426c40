-- Memory that was never freed, by the place that allocated it
-- about: Live when its process or the recording ended. Programs often leave memory to the driver at their end: what grows with n is a leak. On a terminal a page with the stacks; --by-line adds up by line of Python; as a tree: fade-query flame --weight leaks.
-- sort: -size_bytes
-- limit: 40
-- leave: pid largest_bytes age_ns kind device caller library name stack percent python
-- column: pid            id        process
-- column: device         id        as the process numbers it
-- column: kind           text      device, graph (by its launch), managed, array, physical (hipMemCreate), host (pinned), registered, reserved (addresses only), imported (another's) or mapped (a view of it)
-- column: n              count     allocations live at the end
-- column: size_bytes     bytes     all together
-- column: percent        percent   of what was never freed of that kind and device
-- column: largest_bytes  bytes     the largest
-- column: age_ns         duration  of the oldest, until its process ended
-- column: name           text      function that allocated
-- column: python         text      innermost line of Python; empty: none, or no stack was taken
-- column: frames         text      the three innermost frames of the program's own code, innermost first
-- column: library        text      that called it
-- column: caller         text      where it was called from
-- column: stack          id        stack of the call, where one was taken: fade-query stacks --stack ID
WITH place AS (
  SELECT a.session, a.pid, a.device, a.kind, a.name, a.caller_library AS library, a.caller, a.stack, count(*) AS n, sum(a.size) AS size_bytes, max(a.size) AS largest_bytes, min(a.start) AS since
  FROM allocations a
  WHERE a."end" IS NULL
    /*? AND a.session = :session */ /*? AND a.pid = :pid */ /*? AND a.device = :device */
    /*? AND a.name REGEXP :name */
  GROUP BY a.session, a.pid, a.device, a.kind, a.name, a.caller_library, a.caller, a.stack
)
SELECT x.pid, x.device, x.kind, sum(x.n) AS n, sum(x.size_bytes) AS size_bytes,
       round(100.0 * sum(x.size_bytes) / nullif(sum(sum(x.size_bytes)) OVER (PARTITION BY x.session, x.pid, x.device, x.kind), 0), 1) AS percent,
       max(x.largest_bytes) AS largest_bytes, (SELECT max(p."end") FROM processes p WHERE p.session = x.session AND p.pid = x.pid) - min(x.since) AS age_ns, x.name,
       t.python, iif(:by_line, NULL, t.frames) AS frames, iif(:by_line, NULL, x.library) AS library, iif(:by_line, NULL, x.caller) AS caller, iif(:by_line, NULL, x.stack) AS stack
FROM place x LEFT JOIN stack_tops t ON t.stack = x.stack
GROUP BY x.session, x.pid, x.device, x.kind, x.name, t.python, iif(:by_line, NULL, x.stack), iif(:by_line, NULL, x.library), iif(:by_line, NULL, x.caller)
