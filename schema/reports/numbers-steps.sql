-- Copies between host and GPU by step: NaN, infinities, and a checksum of all bytes that were looked at
-- about: Equal steps of two ranks have equal checksums, in whatever order their copies were made. fade-query diff A B
--   --numbers compares the copies of two recordings.
-- sort: step
-- limit: 100
-- leave: step_name scanned_bytes outside pid
-- none: no copy was looked at
-- question: work
-- topic: copies
-- record: --watch-numbers nan,inf,checksum --step WHAT
-- column: step          count  number of the step in its thread; empty: outside of steps
-- column: step_name     text   name of the step
-- column: direction     text   h2d (to the GPU) or d2h (to the host)
-- column: copies        count  copies that were looked at
-- column: scanned_bytes bytes  bytes that were looked at
-- column: checksum      text   of all these copies; empty: recorded without checksum
-- column: nan           count  elements that are not a number
-- column: inf           count  elements that are infinite
-- column: outside       count  finite elements outside of the range
-- column: pid           id     process
-- column: rank          count  of the process in a distributed job
WITH found AS (
  SELECT n.process_id, n.tid, n.step_id, n.direction,
    iif(count(n.checksum) = 0, NULL, printf('%08x%08x', sum((n.checksum >> 32) & 4294967295) & 4294967295,
      sum(n.checksum & 4294967295) & 4294967295)) AS checksum,
    sum(n.nan) AS nan, sum(n.inf) AS inf, sum(n.outside) AS outside
  FROM numbers n
  GROUP BY n.process_id, n.tid, n.step_id, n.direction
)
SELECT n.step, s.name AS step_name, n.direction, n.copies, n.scanned_bytes, f.checksum, coalesce(f.nan, 0) AS nan,
  coalesce(f.inf, 0) AS inf, coalesce(f.outside, 0) AS outside, n.pid,
  (SELECT max(r.rank) FROM process_ranks r WHERE r.session = n.session AND r.pid = n.pid) AS rank
FROM number_steps n
LEFT JOIN steps s ON s.id = n.step_id
LEFT JOIN found f ON f.process_id = n.process_id AND f.tid = n.tid AND f.step_id IS n.step_id
  AND f.direction = n.direction
WHERE true /*? AND n.session = :session */ /*? AND n.pid = :pid */
    /*? AND (n.session, n.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
