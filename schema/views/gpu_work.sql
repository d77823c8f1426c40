-- Work of GPUs with the times at which it ran (fade-run --gpu-times).

CREATE VIEW gpu_work AS
SELECT w.id, p.session, p.pid, t.tid, w.word AS kind,
       CASE WHEN w.kernel IS NULL THEN w.word
            ELSE coalesce(k.demangled, k.name, l.demangled, l.name, printf('0x%x', k.object)) END AS name,
       coalesce(k.name, l.name) AS mangled, nullif(d.ordinal, -1) AS device, w.queue, s.handle AS stream,
       iif(s.handle IS NULL, NULL, printf('0x%x', s.handle)) AS stream_hex, w.stream AS stream_id, w.call,
       w.ts AS start, w.ts + w.dur AS "end", w.dur AS duration, w.bytes, w.thread AS thread_id, w.process AS process_id
FROM (SELECT *, CASE kind WHEN 0 THEN 'kernel' WHEN 1 THEN 'copy' WHEN 2 THEN 'fill' ELSE 'barrier' END AS word
      FROM gpu_work_) w
JOIN process_ p ON p.id = w.process
LEFT JOIN gpu_kernel_ k ON k.id = w.kernel
LEFT JOIN kernel_ l ON l.id = k.kernel
LEFT JOIN device_ d ON d.id = w.device
LEFT JOIN stream_ s ON s.id = w.stream
LEFT JOIN thread_ t ON t.id = w.thread;

CREATE VIEW gpu_stats AS
SELECT p.session, p.id AS process_id, p.pid, g.kind,
       CASE WHEN g.kernel = 0 THEN g.kind
            ELSE coalesce(k.demangled, k.name, l.demangled, l.name, printf('0x%x', k.object)) END AS name,
       coalesce(k.kernel, (SELECT min(n.id) FROM kernel_ n WHERE n.session = p.session AND n.name = k.name))
         AS kernel_id,
       nullif(d.ordinal, -1) AS device, g.n, g.total AS total_ns, g.min AS min_ns, g.max AS max_ns,
       iif(g.kind IN ('copy', 'fill'), g.bytes, NULL) AS bytes, g.first_ts AS first, g.last_ts AS last, g.hist
FROM gpu_stat_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN gpu_kernel_ k ON k.id = g.kernel
LEFT JOIN kernel_ l ON l.id = k.kernel
LEFT JOIN device_ d ON d.id = g.device;

CREATE VIEW gpu_seconds AS
SELECT p.session, p.id AS process_id, p.pid, g.kind,
       CASE WHEN g.kernel = 0 THEN g.kind
            ELSE coalesce(k.demangled, k.name, l.demangled, l.name, printf('0x%x', k.object)) END AS name,
       nullif(d.ordinal, -1) AS device, g.sec, g.n, g.ns
FROM gpu_second_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN gpu_kernel_ k ON k.id = g.kernel
LEFT JOIN kernel_ l ON l.id = k.kernel
LEFT JOIN device_ d ON d.id = g.device;

CREATE VIEW gpu_coverage AS
SELECT p.session, p.id AS process_id, p.pid,
       (SELECT coalesce(sum(u.launches), 0) FROM process_use_ u WHERE u.process = p.id) AS launches, c.seen, c.timed,
       c.seen - c.timed AS untimed, c.unread, c.untied, c.untold
FROM gpu_count_ c
JOIN process_ p ON p.id = c.process;
