-- Devices to which work was sent, or whose memory was allocated.
SELECT session, pid, device
FROM streams
WHERE launches + copies > 0 AND session = coalesce(:session, session)
UNION
SELECT session, pid, device
FROM memory_totals
WHERE memory = 'device' AND allocs > 0 AND session = coalesce(:session, session)
