-- Hardware queues with work as rows of rocpd_info_queue.
SELECT DISTINCT w.process * 65536 + coalesce(w.queue, 0) AS id, 1 AS nid, p.id AS pid,
       coalesce('Queue ' || w.queue, 'Queue not known') AS name
FROM gpu_work_ w
JOIN process_ p ON p.id = w.process
WHERE w.kernel IS NOT NULL AND p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
