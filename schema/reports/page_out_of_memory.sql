-- The first allocation that failed for lack of memory, and how many there were.
SELECT o.pid, o.name, o.asked, o.used, o.bound, o.total, o.memory, o.device, count(*) OVER () AS n, p.rank,
       (SELECT u.user_line
        FROM stack_calls k
        JOIN user_lines u ON u.stack = k.stack
        WHERE k.call_id = o.call_id) AS user_line
FROM ooms o
LEFT JOIN processes p ON p.session = o.session AND p.pid = o.pid
WHERE o.session = coalesce(:session, o.session)
ORDER BY o.id
LIMIT 1
