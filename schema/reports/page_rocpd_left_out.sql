-- Work of GPUs that has no place in rocpd, because its device or its call is not known.
SELECT count(*) AS n
FROM gpu_work_ w
JOIN process_ p ON p.id = w.process
LEFT JOIN device_ d ON d.id = w.device AND d.ordinal >= 0
WHERE w.kind <> 3 AND (d.id IS NULL OR (w.kernel IS NULL AND w.kind = 0)) AND p.session = coalesce(:session, p.session)
  AND (:pid IS NULL OR p.pid = :pid)
