-- Memory of each process and device.
SELECT session, pid, device, memory, peak, live_at_end, allocs, frees
FROM memory_totals
WHERE session = coalesce(:session, session)
ORDER BY pid
