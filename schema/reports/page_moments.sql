-- The first crashes and hangs; signals that ask a program to end do not count.
SELECT coalesce(p.command, p.exe, 'process') AS command, m.pid, m.what, m.call
FROM postmortems m
JOIN processes p ON p.id = m.process_id
WHERE m.session = coalesce(:session, m.session) AND m.kind <> 'snapshot' AND coalesce(m.signal, 0) NOT IN (1, 2, 15)
ORDER BY m.start
LIMIT 4
