-- Sessions, and what happened in them.

CREATE VIEW sessions AS
SELECT id, kind, start_ns, end_ns, end_ns - start_ns AS duration, boot_ns, host, kernel, boot_id, cwd, command,
       fade_version, options, detail, clean
FROM session_;

CREATE VIEW lifecycle AS
SELECT l.id, l.session, l.ts AS start, p.pid, t.tid, l.kind, l.value, l.detail
FROM lifecycle_ l
LEFT JOIN process_ p ON p.id = l.process
LEFT JOIN thread_ t ON t.id = l.thread;

CREATE VIEW drops AS
SELECT id, session, ts AS start, dur AS duration, n, reason
FROM drop_;
