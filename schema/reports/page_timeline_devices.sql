-- Devices as the first process of the recording that asked numbers them.
SELECT ordinal, name, arch, total_memory, multiprocessors, min(id) AS id
FROM devices
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid)
GROUP BY ordinal
ORDER BY ordinal
