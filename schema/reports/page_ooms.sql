-- The first allocations that failed for lack of memory. driver_..: what the driver said in that second.
WITH change AS MATERIALIZED (
  SELECT session, node, pid, start,
    bytes - lag(bytes, 1, 0) OVER (PARTITION BY session, node, pid ORDER BY start) AS more
  FROM gpu_holders),
failed AS MATERIALIZED (
  SELECT o.*,
    (SELECT t.node FROM device_truth t WHERE t.session = o.session AND t.pid = o.pid AND t.device = o.device) AS node
  FROM ooms o)
SELECT o.id, o.pid, o.device, o.memory, o.name, o.asked, o.used, o.bound, o.free, o.total, o.elsewhere,
       o.others,
       (SELECT sum(c.more) FROM change c
        WHERE c.session = o.session AND c.node = o.node AND c.pid = o.pid AND c.start <= o.start) AS driver_own,
       (SELECT sum(c.more) FROM change c
        WHERE c.session = o.session AND c.node = o.node AND c.pid <> o.pid AND c.start <= o.start) AS driver_others,
       (SELECT c.pid FROM change c
        WHERE c.session = o.session AND c.node = o.node AND c.pid <> o.pid AND c.start <= o.start
        GROUP BY c.pid
        ORDER BY sum(c.more) DESC
        LIMIT 1) AS driver_largest,
       o.start, o.caller, k.stack, count(*) OVER () AS n,
         (SELECT u.user_line FROM user_lines u WHERE u.stack = k.stack) AS user_line,
       (SELECT coalesce(replace(p.exe, rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command)
        FROM processes p
        WHERE p.pid = o.pid AND p.session = o.session) AS program,
       (SELECT max(r.rank) FROM process_ranks r WHERE r.session = o.session AND r.pid = o.pid) AS rank
FROM failed o
LEFT JOIN stack_calls k ON k.call_id = o.call_id
WHERE o.session = coalesce(:session, o.session) AND (:pid IS NULL OR o.pid = :pid)
  AND (:device IS NULL OR o.device = :device)
  AND (:rank IS NULL OR (o.session, o.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  AND (:name IS NULL OR o.name REGEXP :name)
ORDER BY o.id
LIMIT :most
