-- The place whose memory grew the most.
SELECT g.pid, g.n, g.size_bytes, g.turns_with, g.turns, g.turn, g.bytes_per_turn, p.rank,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = g.stack) AS user_line, g.name, count(*) OVER () AS places
FROM memory_growth g
LEFT JOIN processes p ON p.session = g.session AND p.pid = g.pid
WHERE g.session = coalesce(:session, g.session)
ORDER BY g.size_bytes DESC
LIMIT 1
