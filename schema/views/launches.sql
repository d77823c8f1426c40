-- Kernels: launches, streams, graphs and code.

CREATE VIEW launches AS
SELECT c.id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid,
       coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library, g.gx AS grid_x, g.gy AS grid_y,
       g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes, st.id AS stream_id,
       st.handle AS stream, iif(st.handle IS NULL, NULL, printf('0x%x', st.handle)) AS stream_hex, f.name AS function,
       CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id,
       l.kernel AS kernel_id, l.geometry AS geometry_id, nullif(d.ordinal, -1) AS device, l.captured,
       CAST(0 AS INTEGER) AS nth, (SELECT count(*) FROM more_launch_ o WHERE o.call = c.id) AS more, ck.stack
FROM call_ c
JOIN launch_ l ON l.id = c.launch
JOIN kernel_ k ON k.id = l.kernel
JOIN geometry_ g ON g.id = l.geometry
JOIN thread_ t ON t.id = c.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = c.fn
LEFT JOIN stream_ st ON st.id = l.stream
LEFT JOIN device_ d ON d.id = st.device
LEFT JOIN call_stack_ ck ON ck.call = c.id
UNION ALL
SELECT m.call AS id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid,
       coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library, g.gx AS grid_x, g.gy AS grid_y,
       g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes, st.id AS stream_id,
       st.handle AS stream, iif(st.handle IS NULL, NULL, printf('0x%x', st.handle)) AS stream_hex, f.name AS function,
       CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id,
       l.kernel AS kernel_id, l.geometry AS geometry_id, nullif(d.ordinal, -1) AS device, l.captured, m.nth AS nth,
       (SELECT count(*) FROM more_launch_ o WHERE o.call = c.id) AS more, ck.stack
FROM more_launch_ m
CROSS JOIN call_ c ON c.id = m.call
JOIN launch_ l ON l.id = m.launch
JOIN kernel_ k ON k.id = l.kernel
JOIN geometry_ g ON g.id = l.geometry
JOIN thread_ t ON t.id = c.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = c.fn
LEFT JOIN stream_ st ON st.id = l.stream
LEFT JOIN device_ d ON d.id = st.device
LEFT JOIN call_stack_ ck ON ck.call = c.id;

CREATE VIEW kernel_stats AS
SELECT x.kernel AS kernel_id, k.session, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library,
       g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z,
       g.shared AS shared_bytes, x.n - x.errors AS launches, x.errors,
       iif(x.launch_ns < x.n * coalesce(kc.least, 0), 0, x.launch_ns) AS launch_total_ns,
       iif(x.launch_ns < x.n * coalesce(kc.least, 0), 0, x.launch_ns) / x.n AS launch_avg_ns,
       x.max_ns AS launch_max_ns, x.first_ts AS first, x.last_ts AS last
FROM kernel_stat_ x
JOIN kernel_ k ON k.id = x.kernel
JOIN geometry_ g ON g.id = x.geometry
LEFT JOIN call_cost_ kc ON kc.session = k.session AND kc.form = 'jump';

CREATE VIEW streams AS
SELECT s.id, p.session, p.pid, s.handle, iif(s.handle IS NULL, NULL, printf('0x%x', s.handle)) AS handle_hex,
       nullif(d.ordinal, -1) AS device, s.ts AS start, s.ts_end AS "end", s.launches, s.copies, s.syncs,
       CASE
         WHEN s.handle = 0 THEN 'default'
         WHEN s.handle = 2 THEN 'per-thread default'
         WHEN s.created THEN 'created'
         ELSE 'found' END AS kind,
       t.tid, s.flags, s.priority, s.cu_mask,
       (SELECT count(DISTINCT l.kernel) FROM launch_ l WHERE l.stream = s.id) AS kernels
FROM stream_ s
JOIN process_ p ON p.id = s.process
LEFT JOIN device_ d ON d.id = s.device
LEFT JOIN thread_ t ON t.id = s.thread;

CREATE VIEW graphs AS
SELECT g.id, p.session, p.pid, g.handle, printf('0x%x', g.handle) AS handle_hex, g.ts AS start, g.kernels, g.complete,
       g.launches, g.errors,
       iif(g.launch_ns < g.launches * coalesce(k.least, 0), 0, g.launch_ns) AS launch_total_ns,
       g.max_ns AS launch_max_ns, g.first_ts AS first, g.last_ts AS last
FROM graph_ g
JOIN process_ p ON p.id = g.process
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

CREATE VIEW graph_kernels AS
SELECT x.graph AS graph_id, p.session, p.pid, x.kernel AS kernel_id, coalesce(k.demangled, k.name) AS name,
       k.name AS mangled, k.library, y.gx AS grid_x, y.gy AS grid_y, y.gz AS grid_z, y.bx AS block_x, y.by AS block_y,
       y.bz AS block_z, y.shared AS shared_bytes, x.n, x.n * (g.launches - g.errors) AS runs
FROM graph_kernel_ x
JOIN graph_ g ON g.id = x.graph
JOIN process_ p ON p.id = g.process
JOIN kernel_ k ON k.id = x.kernel
JOIN geometry_ y ON y.id = x.geometry;

CREATE VIEW graph_launches AS
SELECT x.call AS id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid,
       x.graph AS graph_id, g.kernels, g.complete, st.id AS stream_id, st.handle AS stream,
       iif(st.handle IS NULL, NULL, printf('0x%x', st.handle)) AS stream_hex, nullif(d.ordinal, -1) AS device,
       f.name AS function, CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result,
       c.caller AS caller_id
FROM graph_launch_ x
CROSS JOIN call_ c ON c.id = x.call
JOIN graph_ g ON g.id = x.graph
JOIN thread_ t ON t.id = c.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = c.fn
LEFT JOIN stream_ st ON st.id = x.stream
LEFT JOIN device_ d ON d.id = st.device;

-- Like kernel_stats, including kernels that launches of graphs ran; their time is the graph's, not the kernels'. A
-- graph without a known kernel has one row for all its launches, so that the sum of launches equals the sum in
-- process_use.
CREATE VIEW kernel_runs AS
WITH run AS (
  SELECT k.session, x.kernel, x.geometry, x.n AS calls, x.n - x.errors AS direct, x.errors, 0 AS in_graphs, x.launch_ns,
         x.max_ns, x.first_ts, x.last_ts
  FROM kernel_stat_ x
  JOIN kernel_ k ON k.id = x.kernel
  UNION ALL
  SELECT k.session, x.kernel, x.geometry, 0, 0, 0, x.n * (g.launches - g.errors), 0, NULL, g.first_ts, g.last_ts
  FROM graph_kernel_ x
  JOIN graph_ g ON g.id = x.graph
  JOIN kernel_ k ON k.id = x.kernel
  WHERE g.launches > g.errors
  UNION ALL
  SELECT p.session, NULL, NULL, 0, 0, 0, g.launches - g.errors, 0, NULL, g.first_ts, g.last_ts
  FROM graph_ g
  JOIN process_ p ON p.id = g.process
  WHERE g.launches > g.errors AND g.kernels = 0 AND NOT g.complete)
SELECT r.kernel AS kernel_id, r.session,
       coalesce(k.demangled, k.name, '(kernels of a graph whose creation was not recorded)') AS name,
       k.name AS mangled, k.library, g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y,
       g.bz AS block_z, g.shared AS shared_bytes, sum(r.direct) + sum(r.in_graphs) AS launches, sum(r.errors) AS errors,
       sum(r.in_graphs) AS in_graphs,
       iif(sum(r.launch_ns) < sum(r.calls) * coalesce(kc.least, 0), 0,
           sum(r.launch_ns)) AS launch_total_ns,
       iif(sum(r.launch_ns) < sum(r.calls) * coalesce(kc.least, 0), 0,
           sum(r.launch_ns)) / nullif(sum(r.calls), 0) AS launch_avg_ns,
       max(r.max_ns) AS launch_max_ns, min(r.first_ts) AS first, max(r.last_ts) AS last
FROM run r
LEFT JOIN kernel_ k ON k.id = r.kernel
LEFT JOIN geometry_ g ON g.id = r.geometry
LEFT JOIN call_cost_ kc ON kc.session = r.session AND kc.form = 'jump'
GROUP BY r.session, r.kernel, r.geometry;

-- The streams that each kernel was launched into; graphs are not counted.
CREATE VIEW kernel_streams AS
SELECT l.kernel AS kernel_id, p.session, p.pid, l.stream AS stream_id, s.handle AS stream,
       nullif(d.ordinal, -1) AS device
FROM launch_ l
JOIN stream_ s ON s.id = l.stream
JOIN process_ p ON p.id = s.process
LEFT JOIN device_ d ON d.id = s.device
WHERE NOT l.captured
GROUP BY l.kernel, l.stream;

-- used: 0 if no device of the recording has that architecture, NULL if unknown.
CREATE VIEW kernel_codes AS
SELECT c.kernel AS kernel_id, k.session, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library, c.arch,
       CASE
         WHEN c.arch IS NULL OR NOT EXISTS (SELECT 1 FROM device_ d WHERE d.arch IS NOT NULL) THEN NULL
         ELSE EXISTS (SELECT 1 FROM device_ d WHERE d.arch = c.arch OR d.arch GLOB c.arch || ':*') END AS used,
       CASE c.wgp_mode WHEN 1 THEN 'WGP' WHEN 0 THEN 'CU' END AS mode, c.vgprs, c.agprs, c.sgprs, c.vgpr_spills,
       c.sgpr_spills, c.lds, c.scratch, c.kernarg, c.wave_size, c.max_threads, c.dynamic_stack, c.problem
FROM kernel_code_ c
JOIN kernel_ k ON k.id = c.kernel;
