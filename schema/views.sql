-- The interface of a fade database: these views stay, with these columns. Described in doc_ (docs.sql).
CREATE VIEW sessions AS
SELECT id, kind, start_ns, end_ns, end_ns - start_ns AS duration, boot_ns, host, kernel, boot_id, cwd, command, fade_version, options, detail, clean
FROM session_;

CREATE VIEW processes AS
SELECT p.id, p.session, p.parent AS parent_id, p.pid, p.ppid, p.uid, p.exe, p.command, p.ts AS start, p.ts_end AS "end", p.ts_end - p.ts AS duration,
       p.exit_code, p.exit_signal, p.env,
       (SELECT count(*) FROM thread_ t WHERE t.process = p.id) AS threads
FROM process_ p;

CREATE VIEW threads AS
SELECT t.id, p.session, t.process AS process_id, p.pid, t.tid, t.name, t.ts AS start, t.ts_end AS "end", coalesce(s.calls, 0) AS calls, coalesce(s.errors, 0) AS errors,
       coalesce(s.total, 0) AS total_ns
FROM thread_ t JOIN process_ p ON p.id = t.process
LEFT JOIN (SELECT thread, sum(n) AS calls, sum(errors) AS errors, sum(CASE parent_fn WHEN 0 THEN total ELSE 0 END) AS total FROM call_stat_ GROUP BY thread) s ON s.thread = t.id;

CREATE VIEW modules AS
SELECT m.id, p.session, p.pid, m.path, m.soname, m.role, m.version, m.build_id, m.sites, m.base, iif(m.base IS NULL, NULL, printf('0x%x', m.base)) AS base_hex, m.size, m.ts AS start, m.ts_end AS "end"
FROM module_ m JOIN process_ p ON p.id = m.process;

CREATE VIEW functions AS
SELECT f.id, f.session, f.name, f.api, f.grp AS "group", f.kind, f.library, f.arg_names, f.result_type, coalesce(s.calls, 0) AS calls, coalesce(s.errors, 0) AS errors
FROM function_ f LEFT JOIN (SELECT fn, sum(n) AS calls, sum(errors) AS errors FROM call_stat_ GROUP BY fn) s ON s.fn = f.id;

CREATE VIEW callers AS
SELECT c.id, p.session, p.pid, c.library, c.offset, iif(c.offset IS NULL, NULL, printf('0x%x', c.offset)) AS offset_hex, c.symbol, c.address, iif(c.address IS NULL, NULL, printf('0x%x', c.address)) AS address_hex
FROM call_site_ c JOIN process_ p ON p.id = c.process;

CREATE VIEW calls AS
SELECT c.id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, f.api AS category, f.name, c.id - c.up AS parent_id,
       CASE WHEN c.dur IS NULL OR f.result_type = 'void' THEN NULL ELSE coalesce(c.result, 0) END AS result,
       CASE WHEN c.dur IS NULL THEN NULL ELSE r.name END AS result_name,
       CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(r.failed, 0) END AS failed,
       CASE WHEN c.dur IS NOT NULL THEN 'returned' WHEN u.call IS NOT NULL THEN 'unwound' ELSE 'open' END AS state,
       c.caller AS caller_id, coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library,
       a.args, c.thread AS thread_id, c.fn AS function_id, c.launch AS launch_id
FROM call_ c JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn
LEFT JOIN unwound_ u ON u.call = c.id LEFT JOIN result_name_ r ON r.fn = c.fn AND r.code = c.result
LEFT JOIN call_site_ s ON s.id = c.caller LEFT JOIN arg_ a ON a.call = c.id;

CREATE VIEW launches AS
SELECT c.id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library,
       g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes,
       st.id AS stream_id, st.handle AS stream, iif(st.handle IS NULL, NULL, printf('0x%x', st.handle)) AS stream_hex, f.name AS function, CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id,
       l.kernel AS kernel_id, l.geometry AS geometry_id
FROM call_ c JOIN launch_ l ON l.id = c.launch JOIN kernel_ k ON k.id = l.kernel JOIN geometry_ g ON g.id = l.geometry
JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn LEFT JOIN stream_ st ON st.id = l.stream;

CREATE VIEW kernel_stats AS
SELECT x.kernel AS kernel_id, k.session, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library,
       g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes,
       x.n AS launches, x.errors, x.launch_ns AS launch_total_ns, x.launch_ns / x.n AS launch_avg_ns, x.max_ns AS launch_max_ns, x.first_ts AS first, x.last_ts AS last
FROM kernel_stat_ x JOIN kernel_ k ON k.id = x.kernel JOIN geometry_ g ON g.id = x.geometry;

CREATE VIEW copies AS
SELECT y.call AS id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, f.name, y.kind,
       CASE y.kind WHEN 0 THEN 'h2h' WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' WHEN 3 THEN 'd2d' WHEN 4 THEN 'default' WHEN -1 THEN 'set' WHEN 1024 THEN 'd2d' ELSE 'other' END AS direction,
       y.bytes AS size, y.src, iif(y.src IS NULL, NULL, printf('0x%x', y.src)) AS src_hex, y.dst, iif(y.dst IS NULL, NULL, printf('0x%x', y.dst)) AS dst_hex, st.handle AS stream, y.stream AS stream_id, CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id
FROM copy_ y JOIN call_ c ON c.id = y.call JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn
LEFT JOIN stream_ st ON st.id = y.stream;

CREATE VIEW copy_stats AS
SELECT p.session, p.pid, f.name, y.kind,
       CASE y.kind WHEN 0 THEN 'h2h' WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' WHEN 3 THEN 'd2d' WHEN 4 THEN 'default' WHEN -1 THEN 'set' WHEN 1024 THEN 'd2d' ELSE 'other' END AS direction,
       instr(f.name, 'Async') > 0 AS async, y.n, y.bytes, y.bytes / y.n AS avg_bytes, y.max_bytes, y.small AS small_lt_64k, y.host_ns
FROM copy_stat_ y JOIN process_ p ON p.id = y.process JOIN function_ f ON f.id = y.fn;

CREATE VIEW allocations AS
SELECT a.id, p.session, p.pid, d.ordinal AS device, CASE a.kind WHEN 0 THEN 'device' WHEN 1 THEN 'host' ELSE 'managed' END AS kind, a.addr, iif(a.addr IS NULL, NULL, printf('0x%x', a.addr)) AS addr_hex,
       a.bytes AS size, a.ts AS start, a.ts_end AS "end", a.ts_end - a.ts AS lifetime, a.call AS alloc_call, a.call_end AS free_call
FROM alloc_ a JOIN device_ d ON d.id = a.device JOIN process_ p ON p.id = d.process;

CREATE VIEW memory_timeline AS
SELECT m.ms, p.session, p.pid, d.ordinal AS device, CASE m.kind WHEN 0 THEN 'device' WHEN 1 THEN 'host' ELSE 'managed' END AS kind, m.used, m.peak, m.allocs, m.frees
FROM mem_bucket_ m JOIN device_ d ON d.id = m.device JOIN process_ p ON p.id = d.process;

CREATE VIEW memory_stats AS
SELECT p.session, p.pid, d.ordinal AS device, CASE m.kind WHEN 0 THEN 'device' WHEN 1 THEN 'host' ELSE 'managed' END AS kind, m.used AS live_at_end, m.peak, m.peak_ts AS peak_at,
       m.allocs, m.frees, m.bytes AS allocated, m.unknown_frees
FROM mem_stat_ m JOIN device_ d ON d.id = m.device JOIN process_ p ON p.id = d.process;

CREATE VIEW streams AS
SELECT s.id, p.session, p.pid, s.handle, iif(s.handle IS NULL, NULL, printf('0x%x', s.handle)) AS handle_hex, d.ordinal AS device, s.ts AS start, s.ts_end AS "end", s.launches, s.copies, s.syncs
FROM stream_ s JOIN process_ p ON p.id = s.process LEFT JOIN device_ d ON d.id = s.device;

CREATE VIEW devices AS
SELECT d.id, p.session, p.pid, d.ordinal, d.name, d.arch, d.pci, d.uuid, d.total_memory
FROM device_ d JOIN process_ p ON p.id = d.process;

CREATE VIEW device_properties AS
SELECT x.id, p.session, p.pid, d.ordinal AS device, x.name, x.value, x.source, x.call AS call_id, x.ts AS start
FROM device_prop_ x JOIN device_ d ON d.id = x.device JOIN process_ p ON p.id = d.process;

CREATE VIEW overrides AS
SELECT o.id, o.session, o.spec, o.target, o.value, o.origin, coalesce(h.hits, 0) AS hits, h.first, h.last
FROM override_ o LEFT JOIN (SELECT rule, sum(n) AS hits, min(ts) AS first, max(ts_last) AS last FROM override_hit_ GROUP BY rule) h ON h.rule = o.id;

CREATE VIEW override_hits AS
SELECT h.id, o.session, o.id AS rule_id, o.spec, p.pid, t.tid, h.device, h.target, h.was, h.became, h.n, h.ts AS first, h.ts_last AS last, h.call AS call_id, h.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library
FROM override_hit_ h JOIN override_ o ON o.id = h.rule LEFT JOIN thread_ t ON t.id = h.thread LEFT JOIN process_ p ON p.id = t.process LEFT JOIN call_site_ s ON s.id = h.caller;

CREATE VIEW errors AS
SELECT e.id, p.session, e.ts AS start, p.pid, t.tid, f.name, e.code, e.name AS error, e.n AS repeats, e.ts_last AS last, e.call AS call_id, e.args, e.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library
FROM error_ e JOIN thread_ t ON t.id = e.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = e.fn LEFT JOIN call_site_ s ON s.id = e.caller;

CREATE VIEW lifecycle AS
SELECT l.id, l.session, l.ts AS start, p.pid, t.tid, l.kind, l.value, l.detail
FROM lifecycle_ l LEFT JOIN process_ p ON p.id = l.process LEFT JOIN thread_ t ON t.id = l.thread;

CREATE VIEW drops AS SELECT id, session, ts AS start, dur AS duration, n, reason FROM drop_;

CREATE VIEW overhead AS
SELECT o.session, coalesce(f.name, '(other stops)') AS name, o.stops, o.held_ns, CASE WHEN o.stops > 0 THEN o.held_ns / o.stops END AS per_stop_ns
FROM overhead_ o LEFT JOIN function_ f ON f.id = o.fn;

CREATE VIEW call_stats AS
SELECT p.session, p.pid, t.tid, x.thread AS thread_id, x.fn AS function_id, f.api AS category, f.name, x.parent_fn AS parent_function_id, pf.name AS parent,
       x.n AS calls, x.errors, x.total AS total_ns, x.self AS self_ns, x.min AS min_ns, x.max AS max_ns, x.hist
FROM call_stat_ x JOIN thread_ t ON t.id = x.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = x.fn LEFT JOIN function_ pf ON pf.id = x.parent_fn;

CREATE VIEW top AS
SELECT f.session, f.name, f.api AS category, sum(x.n) AS calls, sum(x.errors) AS errors, sum(x.total) AS total_ns, sum(x.self) AS self_ns, sum(x.total) / sum(x.n) AS avg_ns,
       min(x.min) AS min_ns, max(x.max) AS max_ns, round(100.0 * sum(x.self) / nullif((SELECT sum(self) FROM call_stat_), 0), 2) AS percent
FROM call_stat_ x JOIN function_ f ON f.id = x.fn GROUP BY x.fn ORDER BY total_ns DESC;

CREATE VIEW flow AS
SELECT f.session, pf.api AS caller_api, pf.name AS caller, f.api AS callee_api, f.name AS callee, sum(x.n) AS calls, sum(x.total) AS total_ns,
       (SELECT sum(y.n) FROM call_stat_ y WHERE y.fn = x.parent_fn) AS caller_calls, (SELECT sum(y.self) FROM call_stat_ y WHERE y.fn = x.parent_fn) AS caller_self_ns
FROM call_stat_ x JOIN function_ f ON f.id = x.fn JOIN function_ pf ON pf.id = x.parent_fn GROUP BY x.parent_fn, x.fn;

CREATE VIEW call_rate AS
SELECT f.session, b.sec, b.fn AS function_id, f.name, b.n AS calls, b.total AS total_ns, b.first_call AS first_call_id
FROM call_bucket_ b JOIN function_ f ON f.id = b.fn;

-- Names of rocprofv3's rocpd, so that its users' SQL keeps working.
CREATE VIEW regions AS
SELECT id, NULL AS guid, category, name, NULL AS nid, pid, tid, start, "end", duration, id AS event_id, NULL AS stack_id, parent_id AS parent_stack_id, id AS correlation_id FROM calls;
CREATE VIEW kernels AS
SELECT id, NULL AS guid, tid, 'KERNEL_DISPATCH' AS category, name, NULL AS nid, pid, start, "end", duration, grid_x, grid_y, grid_z,
       block_x AS workgroup_x, block_y AS workgroup_y, block_z AS workgroup_z, shared_bytes AS lds_size, stream_id, NULL AS stack_id FROM launches;
CREATE VIEW memory_copies AS
SELECT id, NULL AS guid, 'MEMORY_COPY' AS category, NULL AS nid, pid, tid, start, "end", duration, name, stream_id, size, src AS src_address, dst AS dst_address, NULL AS stack_id FROM copies;
CREATE VIEW memory_allocations AS
SELECT id, NULL AS guid, 'MEMORY_ALLOCATION' AS category, NULL AS nid, pid, start, "end", lifetime AS duration, kind AS level, device AS agent_abs_index, addr AS address, size, NULL AS stack_id FROM allocations;
CREATE VIEW top_kernels AS
SELECT name, sum(launches) AS total_calls, sum(launch_total_ns) AS total_duration, sum(launch_total_ns) / sum(launches) AS average,
       round(100.0 * sum(launch_total_ns) / nullif((SELECT sum(launch_ns) FROM kernel_stat_), 0), 2) AS percentage
FROM kernel_stats GROUP BY name ORDER BY total_calls DESC;
