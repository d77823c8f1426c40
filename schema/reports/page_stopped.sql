-- A process that was told to end (Ctrl-C, kill) in a call that had run for a second or more. Python returns from the
-- call first: then it is a call that ended within a second before the process did. CROSS JOIN: without such a process
-- SQLite must not read the calls.
WITH stopped AS (
  SELECT p.id, p.session, p.pid, p.rank, p."end", coalesce(nullif(p.exit_signal, 0), p.exit_code - 128) AS signal
  FROM processes p
  WHERE p.session = coalesce(:session, p.session)
    AND (p.exit_signal IN (1, 2, 15) OR p.exit_code IN (129, 130, 143))
  ORDER BY p.id
  LIMIT 8),
call_at_end AS (
  SELECT s.*, t.call, t.age_ns, t.stack
  FROM stopped s
  JOIN postmortems m ON m.session = s.session AND m.process_id = s.id AND m.kind = 'signal'
  JOIN postmortem_threads t ON t.postmortem_id = m.id AND t.age_ns >= 1000000000
  UNION ALL
  SELECT s.*, c.name, c.duration, c.stack
  FROM stopped s
  CROSS JOIN threads t ON t.process_id = s.id
  CROSS JOIN calls c ON c.thread_id = t.id AND c.duration >= 1000000000 AND c."end" >= s."end" - 1000000000
  WHERE EXISTS (SELECT 1 FROM call_stats x WHERE x.session = s.session AND x.max_ns >= 1000000000))
SELECT c.pid, c.rank, c.call, c.age_ns, coalesce(n.name, 'signal ' || c.signal) AS signal,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = c.stack) AS user_line
FROM call_at_end c
LEFT JOIN signal_name_ n ON n.signal = c.signal
ORDER BY c.age_ns DESC
LIMIT 1
