-- Copies between host and GPU by step: NaN, infinities, and a checksum of all bytes that were looked at
-- about: Equal steps of two ranks have equal checksums, in whatever order their copies were made. fade-query diff A B --numbers compares the copies of two recordings.
-- sort: step
-- limit: 100
-- leave: step_name scanned_bytes outside pid
-- none: no copy has a checksum, and nothing was found in one
-- question: work
-- topic: copies
-- record: --watch-numbers nan,inf,checksum --step WHAT
-- column: step          count  number of the step in its thread; empty: outside of steps
-- column: step_name     text   name of the step
-- column: direction     text   h2d (to the GPU) or d2h (to the host)
-- column: copies        count  copies with a find or a checksum
-- column: scanned_bytes bytes  bytes that were looked at
-- column: checksum      text   of all these copies; empty: recorded without checksum
-- column: nan           count  elements that are not a number
-- column: inf           count  elements that are infinite
-- column: outside       count  finite elements outside of the range
-- column: pid           id     process
-- column: rank          count  of the process in a distributed job
SELECT n.step, s.name AS step_name, n.direction, count(*) AS copies, sum(n.scanned_bytes) AS scanned_bytes,
  iif(count(n.checksum) = 0, NULL, printf('%08x%08x', sum((n.checksum >> 32) & 4294967295) & 4294967295,
    sum(n.checksum & 4294967295) & 4294967295)) AS checksum,
  sum(n.nan) AS nan, sum(n.inf) AS inf, sum(n.outside) AS outside, n.pid,
  (SELECT max(r.rank) FROM process_ranks r WHERE r.session = n.session AND r.pid = n.pid) AS rank
FROM numbers n LEFT JOIN steps s ON s.id = n.step_id
WHERE true /*? AND n.session = :session */ /*? AND n.pid = :pid */
    /*? AND (n.session, n.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
GROUP BY n.session, n.process_id, n.tid, n.step_id, n.direction
