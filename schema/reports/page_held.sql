-- What the sums say of the memory that leaks and memory --peak show by place. The sums know no name.
SELECT coalesce(sum(live_at_end), 0) AS live_at_end, coalesce(sum(peak), 0) AS peak
FROM memory_totals
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:device IS NULL OR device = :device)
  AND (:rank IS NULL OR (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  AND :name IS NULL
