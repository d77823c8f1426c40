-- Work of GPUs that has no place in rocpd, because its device or its kernel is not known. untied: has one, but no call.
SELECT coalesce(sum(d.id IS NULL OR (w.kernel IS NULL AND w.kind = 0)), 0) AS n,
       coalesce(sum(w.call IS NULL AND NOT (d.id IS NULL OR (w.kernel IS NULL AND w.kind = 0))), 0) AS untied
FROM gpu_work_ w
JOIN process_ p ON p.id = w.process
LEFT JOIN device_ d ON d.id = w.device AND d.ordinal >= 0
WHERE w.kind <> 3 AND p.session = coalesce(:session, p.session)
  AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
