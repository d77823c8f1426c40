-- Kernels belong to a code object in rocpd. A recording does not know theirs, so each process has one for all.
SELECT DISTINCT p.id, 1 AS nid, p.id AS pid,
       (SELECT 1000000 + min(d.id) FROM device_ d WHERE d.process = p.id AND d.ordinal >= 0) AS agent_id,
       'MEMORY' AS storage_type, '{"note":"not recorded"}' AS extdata
FROM gpu_kernel_ k
JOIN process_ p ON p.id = k.process
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
