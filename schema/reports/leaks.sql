-- Memory that was never freed, by the place that allocated it
-- about: Live when its process or the recording ended. Programs often leave memory to the driver at their end: what grows with n is a leak.
-- sort: -size_bytes
-- limit: 40
-- leave: stack largest_bytes age_ns library pid
-- column: pid            id        process
-- column: device         id        as the process numbers it
-- column: kind           text      device, graph (by its launch), managed, array, physical (hipMemCreate), host (pinned), registered, reserved (addresses only), imported (another's) or mapped (a view of it)
-- column: name           text      function that allocated
-- column: library        text      that called it
-- column: caller         text      where it was called from
-- column: stack          id        stack of the call, where one was taken
-- column: n              count     allocations live at the end
-- column: size_bytes     bytes     all together
-- column: largest_bytes  bytes     the largest
-- column: age_ns         duration  of the oldest, until its process ended
SELECT a.pid, a.device, a.kind, a.name, a.caller_library AS library, a.caller, a.stack, count(*) AS n, sum(a.size) AS size_bytes, max(a.size) AS largest_bytes,
       max(p."end") - min(a.start) AS age_ns
FROM allocations a LEFT JOIN processes p ON p.session = a.session AND p.pid = a.pid
WHERE a."end" IS NULL
  /*? AND a.session = :session */ /*? AND a.pid = :pid */ /*? AND a.device = :device */
  /*? AND a.name REGEXP :name */
GROUP BY a.session, a.pid, a.device, a.kind, a.name, a.caller_library, a.caller, a.stack
