-- The memory that a process held when it died or hung.
SELECT kind, device, used, peak, memory
FROM postmortem_memory
WHERE postmortem_id = :postmortem AND peak > 0
ORDER BY kind, device
LIMIT 20
