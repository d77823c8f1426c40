-- The copies with a checksum of a session, as fade-query diff --numbers compares them. part: the process in the order
-- of its rank, or of its start.
WITH part AS (
  SELECT p.id, row_number() OVER (ORDER BY coalesce((SELECT max(r.rank) FROM process_ranks r WHERE r.session = p.session
    AND r.pid = p.pid), 0), p.id) AS place
  FROM processes p WHERE p.session = coalesce(:session, p.session) AND p.id IN (SELECT process_id FROM numbers)
)
SELECT t.place AS part, n.pid, n.step, n.direction, n.name, n.bytes, n.scanned_bytes,
       n.checksum_hex AS checksum, n.nan, n.at,
       coalesce((SELECT u.user_line FROM user_lines u WHERE u.stack = n.stack), n.name) AS place
FROM numbers n JOIN part t ON t.id = n.process_id
WHERE n.checksum IS NOT NULL ORDER BY n.id
