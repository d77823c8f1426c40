-- Each session with its clocks and its end. The end of a session that was not closed is that of its last call.
SELECT s.id, s.kind, s.start_ns, s.boot_ns, s.boot_id, s.host, s.kernel, s.command, s.fade_version, s.detail, s.clean,
       coalesce(s.end_ns - s.start_ns,
                (SELECT c.start + coalesce(c.duration, 0) FROM calls c WHERE c.session = s.id
                 ORDER BY c.id DESC LIMIT 1),
                0) AS length
FROM sessions s
WHERE s.id = coalesce(:session, s.id)
ORDER BY s.id
