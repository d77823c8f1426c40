-- Memory that was never freed, by the place that allocated it
-- sort: -size_bytes
-- limit: 40
-- leave: largest_bytes age_ns pid
-- column: pid            id        process
-- column: device         id        as the process numbers it
-- column: kind           text      device, host (pinned) or managed
-- column: name           text      function that allocated
-- column: caller         text      where it was called from
-- column: n              count     allocations live at the end
-- column: size_bytes     bytes     all together
-- column: largest_bytes  bytes     the largest
-- column: age_ns         duration  of the oldest, until its process ended
SELECT a.pid, a.device, a.kind, c.name, c.caller, count(*) AS n, sum(a.size) AS size_bytes, max(a.size) AS largest_bytes,
       max(p."end") - min(a.start) AS age_ns
FROM allocations a LEFT JOIN calls c ON c.id = a.alloc_call LEFT JOIN processes p ON p.session = a.session AND p.pid = a.pid
WHERE a."end" IS NULL
  /*? AND a.session = :session */ /*? AND a.pid = :pid */ /*? AND a.device = :device */
  /*? AND c.name REGEXP :name */
GROUP BY a.session, a.pid, a.device, a.kind, c.name, c.caller
