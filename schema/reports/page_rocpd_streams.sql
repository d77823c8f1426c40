-- Streams as rows of rocpd_info_stream, and one of each process for calls whose stream is not known.
SELECT s.id, 1 AS nid, p.id AS pid,
       CASE s.handle WHEN 0 THEN 'Default Stream' ELSE printf('Stream 0x%x', s.handle) END AS name
FROM stream_ s
JOIN process_ p ON p.id = s.process
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
UNION ALL
SELECT 1000000000 + p.id, 1, p.id, 'Stream not known'
FROM process_ p
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
