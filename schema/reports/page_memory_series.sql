-- The peak and the sums of each series, and the time of all of them. SQLite takes ms from the row of the maximum.
WITH chosen AS NOT MATERIALIZED (
  SELECT *
  FROM memory_timeline
  WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid)
    AND (:device IS NULL OR device = :device) AND (:from IS NULL OR ms >= :from / 1000000)
    AND (:to IS NULL OR ms < :to / 1000000)
    AND (:rank IS NULL OR (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))),
series AS MATERIALIZED (
  SELECT pid, device, kind, max(peak) AS peak, ms, sum(allocs) AS allocs, sum(frees) AS frees
  FROM chosen
  GROUP BY pid, device, kind)
SELECT pid, (SELECT max(r.rank) FROM process_ranks r WHERE r.session = coalesce(:session, r.session) AND r.pid = s.pid)
         AS rank,
       device, kind, peak, ms * 1000000 AS peak_at, allocs, frees, (SELECT min(ms) FROM chosen) * 1000000 AS first,
       (SELECT max(ms) FROM chosen) * 1000000 AS last
FROM series s
