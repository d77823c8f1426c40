-- Processes that died or hung, each with the thread that a death began with; of a hang the one whose call runs for
-- longest.
SELECT m.pid, m.what, m.kind, t.call, t.age_ns, p.rank,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = t.stack) AS user_line
FROM postmortems m
JOIN processes p ON p.id = m.process_id
LEFT JOIN postmortem_threads t
  ON t.postmortem_id = m.id
    AND t.thread_id = (SELECT x.thread_id
                       FROM postmortem_threads x
                       WHERE x.postmortem_id = m.id
                       ORDER BY x.cause DESC, x.call IS NULL, x.age_ns DESC
                       LIMIT 1)
WHERE m.session = coalesce(:session, m.session) AND m.kind = :kind AND coalesce(m.signal, 0) NOT IN (1, 2, 15)
ORDER BY m.start
LIMIT 100
