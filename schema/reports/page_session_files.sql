-- Each session as fade-query list shows it.
SELECT id, start_ns, duration, command, clean, (SELECT sum(calls) FROM call_stats c WHERE c.session = s.id) AS calls
FROM sessions s
ORDER BY id
