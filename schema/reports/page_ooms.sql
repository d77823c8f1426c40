-- The first allocations that failed for lack of memory.
SELECT o.id, o.pid, o.device, o.memory, o.name, o.asked, o.used, o.bound, o.free, o.total, o.elsewhere,
       o.others, o.start, o.caller, k.stack, count(*) OVER () AS n, (SELECT u.user_line FROM user_lines u WHERE u.stack = k.stack) AS user_line,
       (SELECT coalesce(replace(p.exe, rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command)
        FROM processes p
        WHERE p.pid = o.pid AND p.session = o.session) AS program,
       (SELECT max(r.rank) FROM process_ranks r WHERE r.session = o.session AND r.pid = o.pid) AS rank
FROM ooms o
LEFT JOIN stack_calls k ON k.call_id = o.call_id
WHERE o.session = coalesce(:session, o.session) AND (:pid IS NULL OR o.pid = :pid)
  AND (:device IS NULL OR o.device = :device)
  AND (:rank IS NULL OR (o.session, o.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  AND (:name IS NULL OR o.name REGEXP :name)
ORDER BY o.id
LIMIT :most
