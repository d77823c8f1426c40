-- The first call that failed, and how many did.
SELECT f.name, coalesce(f.error, f.code) AS error, f.pid,
       (SELECT r.rank FROM process_ranks r WHERE r.process_id = f.process_id) AS rank,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = f.stack) AS user_line,
       (SELECT sum(x.repeats) FROM failures x WHERE x.session = f.session AND NOT x.normal AND NOT x.injected) AS n,
       (SELECT count(DISTINCT x.class) FROM failures x WHERE x.session = f.session
           AND NOT x.normal AND NOT x.injected) AS classes, f.class
FROM failures f
WHERE f.session = coalesce(:session, f.session) AND NOT f.normal AND NOT f.injected
ORDER BY f.id
LIMIT 1
