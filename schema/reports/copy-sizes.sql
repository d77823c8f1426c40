-- How large copies are
-- limit: 60
-- leave: host_ns largest_bytes
-- none: no memory was copied or filled
-- question: work
-- topic: copies
-- events: copy
-- column: direction       text      h2d, d2h, d2d, h2h, default (not told, nor known by the addresses) or set (a fill)
-- column: memory          text      of the host's side: pageable, pinned or managed
-- column: smallest_bytes  bytes     sizes from here
-- column: largest_bytes   bytes     to here
-- column: n               count     how many
-- column: bytes           bytes     all together
-- column: host_ns         net       that the calls took on the host
-- column: percent         percent   of the copies in that direction
SELECT direction, memory, smallest AS smallest_bytes, largest AS largest_bytes,
       sum(n) AS n, sum(bytes) AS bytes, sum(host_ns) AS host_ns,
       round(100.0 * sum(n) / nullif(sum(sum(n)) OVER (PARTITION BY direction), 0), 1) AS percent
FROM copy_sizes
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND name REGEXP :name */
GROUP BY direction, memory, smallest
ORDER BY direction, memory, smallest
