-- Crashes, hangs and snapshots, the last first.
SELECT m.id, coalesce(p.exe, p.command, 'a process') AS exe, m.pid, m.what, m.start, m.signal, m.signal_name,
       m.code_name, m.address_hex, m.thread_id, m.evidence, m.advice, m.command, m.kind, m.threads, p.rank
FROM postmortems m
JOIN processes p ON p.id = m.process_id
WHERE m.session = coalesce(:session, m.session)
ORDER BY m.start DESC
LIMIT 100
