-- The sums of each process, device and kind of memory.
SELECT pid, device, kind, live_at_end, peak, peak_at, allocs, frees
FROM memory_stats
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid)
  AND (:rank IS NULL OR (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
