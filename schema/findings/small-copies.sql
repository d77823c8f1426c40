-- Many small copies in one direction: 10000 or more below 64 KiB, nine of ten in that direction, and more than two for
-- each launch.
SELECT session, pid, NULL, 'small-copies', 'warning', direction,
       printf('%d copies %s were below 64 KiB, %d bytes on average; they took %.3f s of the host''s time. The process '
              || 'made %d launches.',
              small_n, iif(direction = 'h2d', 'to the device', 'to the host'), small_bytes / small_n, small_ns / 1e9,
              launches),
       'Each copy costs about the same however small it is. Gather the data in one buffer and copy it once; leave what '
       || 'the next kernel needs on the device. fade-query copy-sizes shows the sizes, fade-query calls --name Memcpy '
       || 'where they come from.'
FROM (
  SELECT c.session, c.pid, c.process_id, c.direction, sum(c.n) AS n,
         sum(CASE WHEN c.small THEN c.n ELSE 0 END) AS small_n,
         sum(CASE WHEN c.small THEN c.bytes ELSE 0 END) AS small_bytes,
         sum(CASE WHEN c.small THEN c.host_ns ELSE 0 END) AS small_ns,
         coalesce((SELECT sum(u.launches) FROM process_use u WHERE u.process_id = c.process_id), 0) AS launches
  FROM copy_sizes c
  WHERE c.direction IN ('h2d', 'd2h')
  GROUP BY c.process_id, c.direction)
WHERE small_n >= 10000 AND small_n * 10 >= n * 9 AND small_n > 2 * launches
