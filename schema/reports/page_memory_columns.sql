-- The columns of the plots: the most that was in use in the time of each, and the last value. The time from :first on
-- has :width columns of :span ns together.
WITH part AS MATERIALIZED (
  SELECT session, pid, device, kind, (ms * 1000000 - :first) * :width / :span AS part, max(peak) AS peak, max(ms) AS ms
  FROM memory_timeline
  WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid)
    AND (:device IS NULL OR device = :device) AND (:from IS NULL OR ms >= :from / 1000000)
    AND (:to IS NULL OR ms < :to / 1000000)
    AND (:rank IS NULL OR (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  GROUP BY 1, 2, 3, 4, 5)
SELECT pid, device, kind, part, peak,
       (SELECT m.used
        FROM memory_timeline m
        WHERE m.ms = p.ms AND m.session = p.session AND m.pid = p.pid AND m.device IS p.device
           AND m.kind = p.kind) AS used
FROM part p
ORDER BY part
