-- Threads as rows of rocpd_info_thread.
SELECT p.session, t.id, 1 AS nid, p.ppid, p.id AS pid, t.tid, t.name, t.ts AS start, t.ts_end AS "end"
FROM thread_ t
JOIN process_ p ON p.id = t.process
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
