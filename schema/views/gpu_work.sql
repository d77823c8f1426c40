-- Work of GPUs with the times at which it ran (fade-run --gpu-times).

CREATE VIEW gpu_work AS
SELECT w.id, p.session, p.pid, t.tid, w.word AS kind,
       CASE WHEN w.kernel IS NULL THEN w.word
            ELSE coalesce(k.demangled, k.name, l.demangled, l.name, printf('0x%x', k.object)) END AS name,
       coalesce(k.name, l.name) AS mangled, nullif(d.ordinal, -1) AS device, w.queue, s.handle AS stream,
       iif(s.handle IS NULL, NULL, printf('0x%x', s.handle)) AS stream_hex, w.stream AS stream_id, w.call,
       w.ts AS start, w.ts + w.dur AS "end", w.dur AS duration, w.bytes, w.thread AS thread_id, w.process AS process_id,
       coalesce((SELECT i.format FROM gpu_source_ o JOIN import_ i ON i.id = o.import WHERE o.process = w.process),
                'fade') AS source
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
       c.seen - c.timed AS untimed, c.unread, c.untied, c.untold, c.uncalled
FROM gpu_count_ c
JOIN process_ p ON p.id = c.process;

-- How busy a device was between its first and its last work, without counting a moment twice.
CREATE VIEW gpu_busy AS
SELECT p.session, p.id AS process_id, p.pid, nullif(d.ordinal, -1) AS device, g.first_ts AS first, g.last_ts AS last,
       g.last_ts - g.first_ts AS duration, g.busy AS busy_ns, g.kernels AS kernel_ns, g.copies AS copy_ns,
       g.kernels + g.copies - g.busy AS overlap_ns, g.last_ts - g.first_ts - g.busy AS idle_ns, g.n AS kernels,
       iif(g.n > 0, g.median, NULL) AS kernel_median_ns, g.late, g.device AS device_id
FROM gpu_span_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN device_ d ON d.id = g.device;

CREATE VIEW gpu_busy_seconds AS
SELECT p.session, p.id AS process_id, p.pid, nullif(d.ordinal, -1) AS device, g.sec, g.busy AS busy_ns,
       g.kernels AS kernel_ns, g.copies AS copy_ns, g.kernels + g.copies - g.busy AS overlap_ns
FROM gpu_busy_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN device_ d ON d.id = g.device;

CREATE VIEW gpu_gaps AS
SELECT p.session, p.id AS process_id, p.pid, nullif(d.ordinal, -1) AS device, g.cause, g.n, g.ns AS total_ns,
       g.max AS max_ns, g.device AS device_id
FROM gpu_gap_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN device_ d ON d.id = g.device;

CREATE VIEW gpu_idle AS
SELECT p.session, p.id AS process_id, p.pid, nullif(d.ordinal, -1) AS device, g.ts AS start, g.ts + g.dur AS "end",
       g.dur AS duration, g.cause, g.asked, g.before AS before_call_id, g.after AS after_call_id,
       g.wait AS wait_call_id, g.device AS device_id
FROM gpu_idle_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN device_ d ON d.id = g.device;

CREATE VIEW gpu_delays AS
SELECT p.session, p.id AS process_id, p.pid,
       coalesce(k.demangled, k.name, l.demangled, l.name, printf('0x%x', k.object)) AS name, s.handle AS stream,
       iif(s.handle IS NULL, NULL, printf('0x%x', s.handle)) AS stream_hex, s.id AS stream_id, g.n,
       g.total AS total_ns, g.min AS min_ns, g.max AS max_ns, g.early, g.hist
FROM gpu_delay_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN gpu_kernel_ k ON k.id = g.kernel
LEFT JOIN kernel_ l ON l.id = k.kernel
LEFT JOIN stream_ s ON s.id = g.stream;

CREATE VIEW gpu_copies AS
SELECT p.session, p.id AS process_id, p.pid, nullif(d.ordinal, -1) AS device,
       CASE g.kind
         WHEN 0 THEN 'h2h'
         WHEN 1 THEN 'h2d'
         WHEN 2 THEN 'd2h'
         WHEN 3 THEN 'd2d'
         WHEN 4 THEN 'default'
         WHEN 1024 THEN 'd2d'
         ELSE 'other' END AS direction,
       g.n, g.bytes, g.total AS total_ns, g.max AS max_ns
FROM gpu_copy_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN device_ d ON d.id = g.device;

CREATE VIEW gpu_steps AS
SELECT p.session, p.id AS process_id, p.pid, t.tid, g.step AS step_id, s.idx, s.name, s.ts AS start,
       s.ts + s.dur AS "end", s.dur AS duration, s.complete, g.n AS works, g.total AS gpu_ns, g.busy AS busy_ns
FROM gpu_step_ g
JOIN step_ s ON s.id = g.step
JOIN process_ p ON p.id = s.process
JOIN thread_ t ON t.id = s.thread;

-- One sentence about what a statement on the GPU's time of a process rests on.
CREATE VIEW gpu_doubts AS
SELECT p.session, p.id AS process_id, p.pid,
       printf('%d of %d works that were seen have a time.', c.timed, c.seen)
       || iif(c.unread > 0, printf(' %d more were not read in time.', c.unread), '')
       || iif(c.untied > 0, printf(' %d times belong to no work that was seen.', c.untied), '')
       || coalesce((SELECT printf(' %d works came too late to count as busy time.', sum(g.late))
                    FROM gpu_span_ g
                    WHERE g.process = p.id
                    HAVING sum(g.late) > 0), '')
       || coalesce((SELECT printf(' The recording began %.1f s after the program.', max(n."end" - n.start) / 1e9)
                    FROM narrowings n
                    WHERE n.process_id = p.id AND n.word IN ('attach', 'delay')
                    HAVING count(*) > 0), '')
       || coalesce((SELECT printf(' The times are not fade''s own, but from %s (%s).', i.file, i.format)
                    FROM gpu_source_ o
                    JOIN import_ i ON i.id = o.import
                    WHERE o.process = p.id), '') AS text
FROM gpu_count_ c
JOIN process_ p ON p.id = c.process;

-- Idle times by cause beside fade's own cost. Stops of fade make a program slower to launch; all of that time may be
-- idle time of the GPU, so it is taken from each cause and from the whole. share: of what remains.
CREATE VIEW gpu_losses AS
WITH own AS MATERIALIZED (SELECT session, calls_ns + taps_ns AS ns FROM slowdowns),
cause(word) AS (VALUES ('launch'), ('sync'), ('copy'), ('host'))
SELECT b.session, b.process_id, b.pid, b.device, c.word AS cause, coalesce(g.n, 0) AS n,
       coalesce(g.total_ns, 0) AS total_ns, coalesce(g.max_ns, 0) AS max_ns, b.duration, b.kernel_ns, b.copy_ns,
       b.copy_ns - b.overlap_ns AS alone_ns, coalesce(o.ns, 0) AS own_ns,
       1.0 * (max(coalesce(g.total_ns, 0) - coalesce(o.ns, 0), 0) + iif(c.word = 'copy', b.copy_ns - b.overlap_ns, 0))
       / nullif(max(b.duration - coalesce(o.ns, 0), 0), 0) AS share, d.text AS doubt, b.device_id
FROM gpu_busy b
CROSS JOIN cause c
LEFT JOIN gpu_gaps g ON g.process_id = b.process_id AND g.device_id = b.device_id AND g.cause = c.word
LEFT JOIN own o ON o.session = b.session
LEFT JOIN gpu_doubts d ON d.process_id = b.process_id;
