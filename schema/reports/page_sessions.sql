-- Each session with the end of its first process.
SELECT s.id, s.command, s.start_ns, s.host, p.exit_code, p.exit_signal, p.duration,
       s.clean AND s.kind = 'attach' AS detached
FROM sessions s
LEFT JOIN processes p ON p.id = (SELECT min(id) FROM processes WHERE session = s.id)
ORDER BY s.id
