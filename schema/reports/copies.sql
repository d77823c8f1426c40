-- Memory copies and fills by direction and kind of host memory
-- about: Pageable memory is copied through a buffer of the runtime, and its asynchronous copies wait. Pinned memory
--   (hipHostMalloc, hipHostRegister) needs neither. Empty: not all allocations were watched, and it may be pinned or
--   pageable.
-- sort: -bytes
-- leave: small_lt_64k avg_bytes max_bytes
-- none: no memory was copied or filled
-- question: work
-- topic: copies
-- events: copy
-- column: direction     text      h2d, d2h, d2d, h2h, default (not told, nor known by the addresses) or set (a fill)
-- column: memory        text      of the host's side: pageable, pinned or managed
-- column: async         yesno     through one of the ...Async functions
-- column: n             count     how many
-- column: bytes         bytes     all together
-- column: avg_bytes     bytes     of one
-- column: max_bytes     bytes     the largest
-- column: host_ns       net       that the calls took on the host
-- column: small_lt_64k  count     copies below 64 KiB
SELECT direction, memory, async, sum(n) AS n, sum(bytes) AS bytes, sum(bytes) / nullif(sum(n), 0) AS avg_bytes,
       max(max_bytes) AS max_bytes,
       sum(host_ns) AS host_ns, sum(CASE WHEN small THEN n ELSE 0 END) AS small_lt_64k
FROM copy_sizes
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND name REGEXP :name */
GROUP BY direction, memory, async
