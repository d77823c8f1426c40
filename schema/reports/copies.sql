-- Memory copies and fills by direction
-- sort: -bytes
-- leave: small_lt_64k avg_bytes max_bytes
-- column: direction     text      h2d, d2h, d2d, h2h, default (told by the addresses) or set (a fill)
-- column: async         yesno     through one of the ...Async functions
-- column: n             count     how many
-- column: bytes         bytes     all together
-- column: avg_bytes     bytes     of one
-- column: max_bytes     bytes     the largest
-- column: host_ns       duration  that the calls took on the host
-- column: small_lt_64k  count     copies below 64 KiB
SELECT direction, async, sum(n) AS n, sum(bytes) AS bytes, sum(bytes) / nullif(sum(n), 0) AS avg_bytes, max(max_bytes) AS max_bytes,
       sum(host_ns) AS host_ns, sum(small_lt_64k) AS small_lt_64k
FROM copy_stats
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND name REGEXP :name */
GROUP BY direction, async
