-- The interface of a fade database: these views stay, with these columns. Described in doc_ (docs.sql).
CREATE VIEW sessions AS
SELECT id, kind, start_ns, end_ns, end_ns - start_ns AS duration, boot_ns, host, kernel, boot_id, cwd, command, fade_version, options, detail, clean
FROM session_;

CREATE VIEW processes AS
SELECT p.id, p.session, p.parent AS parent_id, p.pid, p.ppid, p.uid, p.exe, p.command, p.ts AS start, p.ts_end AS "end", p.ts_end - p.ts AS duration,
       p.exit_code, p.exit_signal, p.env,
       (SELECT count(*) FROM thread_ t WHERE t.process = p.id) AS threads, r.rank
FROM process_ p LEFT JOIN process_ranks r ON r.process_id = p.id;

CREATE VIEW threads AS
SELECT t.id, p.session, t.process AS process_id, p.pid, t.tid, t.name, t.ts AS start, t.ts_end AS "end", coalesce(s.calls, 0) AS calls, coalesce(s.errors, 0) AS errors,
       coalesce(iif(s.total < s.outer * coalesce(k.call_spread + k.call_ns / 10, 0), 0, s.total), 0) AS total_ns, r.rank
FROM thread_ t JOIN process_ p ON p.id = t.process
LEFT JOIN process_ranks r ON r.process_id = p.id
LEFT JOIN (SELECT thread, sum(n) AS calls, sum(errors) AS errors, sum(CASE parent_fn WHEN 0 THEN total ELSE 0 END) AS total, sum(CASE parent_fn WHEN 0 THEN n ELSE 0 END) AS outer
           FROM call_stat_ GROUP BY thread) s ON s.thread = t.id
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

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
       CASE WHEN c.dur IS NOT NULL THEN 'returned' WHEN u.ts_end = -1 THEN 'entry only' WHEN u.ts_end IS NOT NULL THEN 'unwound' WHEN u.call IS NOT NULL THEN 'unseen' ELSE 'open' END AS state,
       c.caller AS caller_id, coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library,
       a.args, c.thread AS thread_id, c.fn AS function_id, c.launch AS launch_id, k.stack
FROM call_ c JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn
LEFT JOIN unwound_ u ON u.call = c.id LEFT JOIN result_name_ r ON r.fn = c.fn AND r.code = c.result
LEFT JOIN call_site_ s ON s.id = c.caller LEFT JOIN arg_ a ON a.call = c.id LEFT JOIN call_stack_ k ON k.call = c.id;

CREATE VIEW arg_blocks AS
SELECT b.id, f.session, b.fn AS function_id, f.name, b.first AS first_call, b.last AS last_call, b.n AS calls, length(b.data) AS bytes
FROM arg_block_ b JOIN function_ f ON f.id = b.fn;

CREATE VIEW arguments_kept AS
SELECT s.id AS session, s.calls, s.as_text, s.packed, s.calls - s.as_text - s.packed AS missing
FROM (SELECT r.id, (SELECT count(*) FROM call_ c WHERE c.id > r.before AND c.id <= r.last) AS calls,
             (SELECT count(*) FROM arg_ a WHERE a.call > r.before AND a.call <= r.last AND a.call IN (SELECT id FROM call_)) AS as_text,
             (SELECT coalesce(sum(b.n), 0) FROM arg_block_ b JOIN function_ f ON f.id = b.fn WHERE f.session = r.id) AS packed
      FROM (SELECT x.id, coalesce((SELECT max(y.last_call) FROM session_ y WHERE y.id < x.id), 0) AS before,
                   CASE WHEN x.id = (SELECT max(id) FROM session_) THEN 9223372036854775807 ELSE x.last_call END AS last
            FROM session_ x) r) s;

CREATE VIEW launches AS
SELECT c.id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library,
       g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes,
       st.id AS stream_id, st.handle AS stream, iif(st.handle IS NULL, NULL, printf('0x%x', st.handle)) AS stream_hex, f.name AS function, CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id,
       l.kernel AS kernel_id, l.geometry AS geometry_id, nullif(d.ordinal, -1) AS device, l.captured, CAST(0 AS INTEGER) AS nth, (SELECT count(*) FROM more_launch_ o WHERE o.call = c.id) AS more, ck.stack
FROM call_ c JOIN launch_ l ON l.id = c.launch JOIN kernel_ k ON k.id = l.kernel JOIN geometry_ g ON g.id = l.geometry
JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn LEFT JOIN stream_ st ON st.id = l.stream LEFT JOIN device_ d ON d.id = st.device LEFT JOIN call_stack_ ck ON ck.call = c.id
UNION ALL
SELECT m.call AS id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library,
       g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes,
       st.id AS stream_id, st.handle AS stream, iif(st.handle IS NULL, NULL, printf('0x%x', st.handle)) AS stream_hex, f.name AS function, CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id,
       l.kernel AS kernel_id, l.geometry AS geometry_id, nullif(d.ordinal, -1) AS device, l.captured, m.nth AS nth, (SELECT count(*) FROM more_launch_ o WHERE o.call = c.id) AS more, ck.stack
FROM more_launch_ m CROSS JOIN call_ c ON c.id = m.call JOIN launch_ l ON l.id = m.launch JOIN kernel_ k ON k.id = l.kernel JOIN geometry_ g ON g.id = l.geometry
JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn LEFT JOIN stream_ st ON st.id = l.stream LEFT JOIN device_ d ON d.id = st.device LEFT JOIN call_stack_ ck ON ck.call = c.id;

CREATE VIEW kernel_stats AS
SELECT x.kernel AS kernel_id, k.session, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library,
       g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes,
       x.n - x.errors AS launches, x.errors, iif(x.launch_ns < x.n * coalesce(kc.call_spread + kc.call_ns / 10, 0), 0, x.launch_ns) AS launch_total_ns,
       iif(x.launch_ns < x.n * coalesce(kc.call_spread + kc.call_ns / 10, 0), 0, x.launch_ns) / x.n AS launch_avg_ns, x.max_ns AS launch_max_ns, x.first_ts AS first, x.last_ts AS last
FROM kernel_stat_ x JOIN kernel_ k ON k.id = x.kernel JOIN geometry_ g ON g.id = x.geometry LEFT JOIN call_cost_ kc ON kc.session = k.session AND kc.form = 'jump';

CREATE VIEW copies AS
SELECT y.call AS id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, f.name, y.kind,
       CASE y.kind WHEN 0 THEN 'h2h' WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' WHEN 3 THEN 'd2d' WHEN 4 THEN 'default' WHEN -1 THEN 'set' WHEN 1024 THEN 'd2d' ELSE 'other' END AS direction,
       y.bytes AS size, y.src, iif(y.src IS NULL, NULL, printf('0x%x', y.src)) AS src_hex, y.dst, iif(y.dst IS NULL, NULL, printf('0x%x', y.dst)) AS dst_hex, st.handle AS stream, y.stream AS stream_id, CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id,
       CASE y.memory WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned' WHEN 3 THEN 'managed' END AS memory, k.stack
FROM copy_ y JOIN call_ c ON c.id = y.call JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn
LEFT JOIN stream_ st ON st.id = y.stream LEFT JOIN call_stack_ k ON k.call = y.call;

CREATE VIEW copy_stats AS
SELECT p.session, p.pid, f.name, y.kind,
       CASE y.kind WHEN 0 THEN 'h2h' WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' WHEN 3 THEN 'd2d' WHEN 4 THEN 'default' WHEN -1 THEN 'set' WHEN 1024 THEN 'd2d' ELSE 'other' END AS direction,
       instr(f.name, 'Async') > 0 AS async, y.n, y.bytes, y.bytes / y.n AS avg_bytes, y.max_bytes, y.small AS small_lt_64k,
       iif(y.host_ns < y.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, y.host_ns) AS host_ns
FROM copy_stat_ y JOIN process_ p ON p.id = y.process JOIN function_ f ON f.id = y.fn
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

CREATE VIEW allocations AS
SELECT a.id, p.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind, a.addr, iif(a.addr IS NULL, NULL, printf('0x%x', a.addr)) AS addr_hex,
       a.bytes AS size, a.ts AS start, a.ts_end AS "end", a.ts_end - a.ts AS lifetime, a.call AS alloc_call, a.call_end AS free_call,
       CASE k.memory WHEN 0 THEN 'device' WHEN 1 THEN 'host' END AS memory, f.name, a.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, t.stack, q.pid AS owner, iif(w.addr IS NULL, NULL, printf('0x%x', w.addr)) AS owner_addr
FROM alloc_ a JOIN device_ d ON d.id = a.device JOIN process_ p ON p.id = d.process JOIN memory_kind_ k ON k.id = a.kind
LEFT JOIN function_ f ON f.id = a.fn LEFT JOIN call_site_ s ON s.id = a.caller LEFT JOIN call_stack_ t ON t.call = a.call
LEFT JOIN alloc_owner_ w ON w.alloc = a.id LEFT JOIN process_ q ON q.id = w.process;

CREATE VIEW memory_timeline AS
SELECT m.ms, p.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind, m.used, m.peak, m.allocs, m.frees
FROM mem_bucket_ m JOIN device_ d ON d.id = m.device JOIN process_ p ON p.id = d.process JOIN memory_kind_ k ON k.id = m.kind;

CREATE VIEW memory_stats AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind, m.used AS live_at_end, m.peak, m.peak_ts AS peak_at,
       m.allocs, m.frees, m.bytes AS allocated, m.unknown_frees
FROM mem_stat_ m JOIN device_ d ON d.id = m.device JOIN process_ p ON p.id = d.process JOIN memory_kind_ k ON k.id = m.kind;

CREATE VIEW streams AS
SELECT s.id, p.session, p.pid, s.handle, iif(s.handle IS NULL, NULL, printf('0x%x', s.handle)) AS handle_hex, nullif(d.ordinal, -1) AS device, s.ts AS start, s.ts_end AS "end", s.launches, s.copies, s.syncs,
       CASE WHEN s.handle = 0 THEN 'default' WHEN s.handle = 2 THEN 'per-thread default' WHEN s.created THEN 'created' ELSE 'found' END AS kind, t.tid, s.flags, s.priority, s.cu_mask,
       (SELECT count(DISTINCT l.kernel) FROM launch_ l WHERE l.stream = s.id) AS kernels
FROM stream_ s JOIN process_ p ON p.id = s.process LEFT JOIN device_ d ON d.id = s.device LEFT JOIN thread_ t ON t.id = s.thread;

-- The identity of a device: the runtime's answers, attributes too. A UUID of zeros counts as none.
CREATE VIEW device_ids AS
WITH part AS (
  SELECT device,
    max(iif(name IN ('hipDeviceAttributePciBusId', 'CU_DEVICE_ATTRIBUTE_PCI_BUS_ID'), CAST(value AS INTEGER), NULL)) AS bus,
    max(iif(name IN ('hipDeviceAttributePciDeviceId', 'CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID'), CAST(value AS INTEGER), NULL)) AS slot,
    max(iif(lower(name) IN ('hipdeviceattributepcidomainid', 'cu_device_attribute_pci_domain_id'), CAST(value AS INTEGER), NULL)) AS domain
  FROM device_prop_ WHERE source GLOB 'api:*' GROUP BY device)
SELECT d.id AS device_id,
       coalesce(d.pci, iif(a.bus IS NULL OR a.slot IS NULL, NULL, printf('%04x:%02x:%02x.0', coalesce(a.domain, 0), a.bus, a.slot))) AS pci,
       iif(trim(d.uuid, '0-') = '', NULL, d.uuid) AS uuid
FROM device_ d LEFT JOIN part a ON a.device = d.id;

-- The values that the process received: fade's value if a rule overwrote the answer; told_... is the runtime's answer.
CREATE VIEW devices AS
WITH fact(fact, name) AS (VALUES
  ('name', 'name'), ('arch', 'gcnArchName'), ('memory', 'totalGlobalMem'), ('count', 'multiProcessorCount'),
  ('count', 'hipDeviceAttributeMultiprocessorCount'), ('count', 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT')),
last AS (  -- SQLite takes x.value from the row with the largest id
  SELECT x.device, f.fact, x.source GLOB 'override:*' AS changed, x.value, max(x.id) AS id
  FROM device_prop_ x JOIN fact f ON f.name = x.name GROUP BY 1, 2, 3),
received AS (
  SELECT device, max(iif(fact = 'name' AND changed, value, NULL)) AS name, max(iif(fact = 'arch' AND changed, value, NULL)) AS arch,
         max(iif(fact = 'memory' AND changed, CAST(value AS INTEGER), NULL)) AS memory,
         max(iif(fact = 'count' AND changed, CAST(value AS INTEGER), NULL)) AS multiprocessors,
         max(iif(fact = 'count' AND NOT changed, CAST(value AS INTEGER), NULL)) AS told_multiprocessors
  FROM last GROUP BY device)
SELECT d.id, p.session, p.pid, d.ordinal, coalesce(r.name, d.name) AS name, coalesce(r.arch, d.arch) AS arch, i.pci, i.uuid,
       coalesce(r.memory, d.total_memory) AS total_memory, coalesce(r.multiprocessors, r.told_multiprocessors) AS multiprocessors,
       d.name AS told_name, d.arch AS told_arch, d.total_memory AS told_memory, r.told_multiprocessors
FROM device_ d JOIN process_ p ON p.id = d.process JOIN device_ids i ON i.device_id = d.id
LEFT JOIN received r ON r.device = d.id WHERE d.ordinal >= 0;

CREATE VIEW device_properties AS
SELECT x.id, p.session, p.pid, nullif(d.ordinal, -1) AS device, x.name, x.value, x.source, x.call AS call_id, x.ts AS start
FROM device_prop_ x JOIN device_ d ON d.id = x.device JOIN process_ p ON p.id = d.process;

CREATE VIEW overrides AS
SELECT o.id, o.session, o.spec, o.target, o.value, o.origin, coalesce(h.hits, 0) AS hits, h.first, h.last
FROM override_ o LEFT JOIN (SELECT rule, sum(n) AS hits, min(ts) AS first, max(ts_last) AS last FROM override_hit_ GROUP BY rule) h ON h.rule = o.id;

CREATE VIEW override_hits AS
SELECT h.id, o.session, o.id AS rule_id, o.spec, p.pid, t.tid, h.device, h.target, h.was, h.became, h.n, h.ts AS first, h.ts_last AS last, h.call AS call_id, h.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library
FROM override_hit_ h JOIN override_ o ON o.id = h.rule LEFT JOIN thread_ t ON t.id = h.thread LEFT JOIN process_ p ON p.id = t.process LEFT JOIN call_site_ s ON s.id = h.caller;

CREATE VIEW errors AS
SELECT e.id, p.session, e.ts AS start, p.pid, t.tid, f.name, e.code, e.name AS error, e.n AS repeats, e.ts_last AS last, e.call AS call_id, e.args, f.api AS category, e.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library, k.stack
FROM error_ e JOIN thread_ t ON t.id = e.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = e.fn LEFT JOIN call_site_ s ON s.id = e.caller LEFT JOIN call_stack_ k ON k.call = e.call;

CREATE VIEW lifecycle AS
SELECT l.id, l.session, l.ts AS start, p.pid, t.tid, l.kind, l.value, l.detail
FROM lifecycle_ l LEFT JOIN process_ p ON p.id = l.process LEFT JOIN thread_ t ON t.id = l.thread;

CREATE VIEW drops AS SELECT id, session, ts AS start, dur AS duration, n, reason FROM drop_;

-- least: the smallest duration that exceeds fade's own cost. A session's calls cost up to a tenth more than the calls
-- of the measured child.
CREATE VIEW call_costs AS
SELECT session, form, calls, call_ns, call_spread AS call_spread_ns, stop_ns, stop_spread AS stop_spread_ns, iif(calls > 0, call_spread + call_ns / 10, NULL) AS least_ns, problem
FROM call_cost_;

-- The cost of fade for the programs of a session. Time is added up over threads; busiest is of the thread with the
-- most, life is of the programs.
CREATE VIEW slowdowns AS
WITH k AS (SELECT session, stop_ns FROM call_cost_ WHERE form = 'jump' AND calls > 0),
stop AS (
  SELECT o.session, sum(iif(o.fn = 0, 0, o.stops)) AS call_stops, sum(iif(o.fn = 0, 0, o.held_ns)) AS call_held, sum(o.stops) AS stops, sum(o.held_ns) AS held_ns
  FROM overhead_ o GROUP BY o.session),
thread AS (
  SELECT p.session, count(*) AS threads, max(c.held_ns + c.stops * coalesce(k.stop_ns, 0)) AS busiest_ns
  FROM thread_cost_ c JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process LEFT JOIN k ON k.session = p.session GROUP BY p.session),
life AS (SELECT session, max(coalesce(ts_end, 0)) AS until, min(ts) AS began, sum(ts_end IS NULL) AS running FROM process_ GROUP BY session),
call AS (SELECT p.session, sum(x.n) AS calls FROM call_stat_ x JOIN thread_ t ON t.id = x.thread JOIN process_ p ON p.id = t.process GROUP BY p.session)
SELECT s.id AS session, coalesce(c.calls, 0) AS calls, coalesce(t.threads, 0) AS threads, coalesce(x.stops, 0) AS stops, coalesce(x.held_ns, 0) AS held_ns,
       coalesce(x.call_held + x.call_stops * coalesce(k.stop_ns, 0), 0) AS calls_ns,
       coalesce(x.held_ns - x.call_held + (x.stops - x.call_stops) * coalesce(k.stop_ns, 0), 0) AS other_ns, coalesce(t.busiest_ns, 0) AS busiest_ns,
       iif(l.running > 0, coalesce(s.end_ns - s.start_ns, l.until), l.until) - l.began AS life_ns, k.stop_ns IS NOT NULL AS measured
FROM session_ s LEFT JOIN k ON k.session = s.id LEFT JOIN stop x ON x.session = s.id LEFT JOIN thread t ON t.session = s.id LEFT JOIN life l ON l.session = s.id
LEFT JOIN call c ON c.session = s.id;

CREATE VIEW overhead AS
SELECT o.session, coalesce(f.name, '(other stops)') AS name, o.stops, o.held_ns, CASE WHEN o.stops > 0 THEN o.held_ns / o.stops END AS per_stop_ns,
       o.held_ns + o.stops * k.stop_ns AS cost_ns
FROM overhead_ o LEFT JOIN function_ f ON f.id = o.fn LEFT JOIN call_cost_ k ON k.session = o.session AND k.form = 'jump' AND k.calls > 0;

CREATE VIEW call_stats AS
SELECT p.session, p.pid, t.tid, x.thread AS thread_id, x.fn AS function_id, f.api AS category, f.name, x.parent_fn AS parent_function_id, pf.name AS parent,
       x.n AS calls, x.errors, iif(x.max IS NULL, NULL, iif(x.total < x.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.total)) AS total_ns,
       iif(x.max IS NULL, NULL, iif(x.self < x.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.self)) AS self_ns, iif(x.min < 1 * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.min) AS min_ns, iif(x.max < 1 * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.max) AS max_ns,
       x.hist, x.leaves AS leaf_calls, iif(x.max IS NULL, NULL, x.total + x.cost) AS raw_total_ns, coalesce(k.call_spread + k.call_ns / 10, 0) AS least_ns
FROM call_stat_ x JOIN thread_ t ON t.id = x.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = x.fn LEFT JOIN function_ pf ON pf.id = x.parent_fn
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

CREATE VIEW top AS
WITH f AS (
  SELECT session, name, category, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns, min(min_ns) AS min_ns, max(max_ns) AS max_ns
  FROM call_stats GROUP BY function_id)
SELECT session, name, category, calls, errors, total_ns, self_ns, total_ns / calls AS avg_ns, min_ns, max_ns,
       round(100.0 * self_ns / nullif((SELECT sum(self_ns) FROM f), 0), 2) AS percent
FROM f ORDER BY total_ns DESC;

CREATE VIEW flow AS
WITH own AS MATERIALIZED (SELECT function_id, sum(calls) AS calls, sum(self_ns) AS self_ns FROM call_stats GROUP BY function_id)
SELECT x.session, pf.api AS caller_api, x.parent AS caller, x.category AS callee_api, x.name AS callee, sum(x.calls) AS calls, sum(x.total_ns) AS total_ns,
       o.calls AS caller_calls, o.self_ns AS caller_self_ns
FROM call_stats x JOIN function_ pf ON pf.id = x.parent_function_id LEFT JOIN own o ON o.function_id = x.parent_function_id GROUP BY x.parent_function_id, x.function_id;

CREATE VIEW call_rate AS
SELECT f.session, b.sec, b.fn AS function_id, f.name, b.n AS calls, iif(b.total < b.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, b.total) AS total_ns, b.first_call AS first_call_id
FROM call_bucket_ b JOIN function_ f ON f.id = b.fn LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump';

-- Names of rocprofv3's rocpd, so that its users' SQL keeps working.
CREATE VIEW regions AS
SELECT id, NULL AS guid, category, name, NULL AS nid, pid, tid, start, "end", duration, id AS event_id, stack AS stack_id, parent_id AS parent_stack_id, id AS correlation_id FROM calls;
CREATE VIEW kernels AS
SELECT id, NULL AS guid, tid, 'KERNEL_DISPATCH' AS category, name, NULL AS nid, pid, start, "end", duration, grid_x, grid_y, grid_z,
       block_x AS workgroup_x, block_y AS workgroup_y, block_z AS workgroup_z, shared_bytes AS lds_size, stream_id, stack AS stack_id FROM launches;
CREATE VIEW memory_copies AS
SELECT id, NULL AS guid, 'MEMORY_COPY' AS category, NULL AS nid, pid, tid, start, "end", duration, name, stream_id, size, src AS src_address, dst AS dst_address, stack AS stack_id FROM copies;
CREATE VIEW memory_allocations AS
SELECT id, NULL AS guid, 'MEMORY_ALLOCATION' AS category, NULL AS nid, pid, start, "end", lifetime AS duration, kind AS level, device AS agent_abs_index, addr AS address, size, stack AS stack_id FROM allocations;
CREATE VIEW top_kernels AS
SELECT name, sum(launches) AS total_calls, sum(launch_total_ns) AS total_duration, sum(launch_total_ns) / sum(launches) AS average,
       round(100.0 * sum(launch_total_ns) / nullif((SELECT sum(launch_total_ns) FROM kernel_stats), 0), 2) AS percentage
FROM kernel_stats GROUP BY name ORDER BY total_calls DESC;

-- ---------------------------------------------------------------- devices: the runtime's answers, the driver's
-- topology, the reference table
CREATE VIEW kfd_topology AS SELECT session, root, problem FROM kfd_topology_;

CREATE VIEW kfd_nodes AS
SELECT id, session, node, iif(gpu, 'gpu', 'cpu') AS kind, name, problem, arch, pci, uuid, gpu_id, cpu_cores, simd_count, simd_per_cu, compute_units, wave_size,
       vendor_id, device_id, revision, memory, memory_bits, memory_mhz, max_mhz, xccs, render_minor
FROM kfd_node_;

CREATE VIEW reference_gpus AS
SELECT g.id, g.name, g.chip, g.arch, g.compute_units, g.memory_mib * 1048576 AS memory, g.shared_memory, g.memory_bits, g.boost_mhz, g.l2_kib * 1024 AS l2,
       g.l3_kib * 1024 AS l3, g.wave_size,
       (SELECT group_concat(printf('%04x%s', p.device_id, coalesce(printf(':%02x', p.revision), '')), ' ') FROM gpu_pci_ p WHERE p.gpu = g.id) AS pci_ids
FROM gpu_ g;

-- The product of a node; several products share a device id.
CREATE VIEW node_gpus AS
SELECT node_id, session, gpu_id, matched_by FROM (
  SELECT k.id AS node_id, k.session, g.id AS gpu_id, iif(coalesce(p.revision = k.revision, p.revision IS NULL), 'device id and revision', 'device id and compute units') AS matched_by,
         row_number() OVER (PARTITION BY k.id ORDER BY coalesce(p.revision = k.revision, p.revision IS NULL) DESC, g.compute_units = k.compute_units DESC, g.id) AS place
  FROM kfd_node_ k JOIN gpu_pci_ p ON p.device_id = k.device_id JOIN gpu_ g ON g.id = p.gpu
  WHERE k.gpu AND k.vendor_id = 4098 AND (coalesce(p.revision = k.revision, p.revision IS NULL) OR g.compute_units = k.compute_units))
WHERE place = 1;

-- Never by number: by the PCI address, or by the board's unique id. If several nodes share a slot (partitions), an
-- address without a function is ambiguous.
CREATE VIEW device_nodes AS
SELECT device_id, node_id, matched_by FROM (
  SELECT c.device_id, c.node_id, CASE WHEN same_uuid AND same_slot THEN 'PCI address and unique id' WHEN same_slot THEN 'PCI address' WHEN same_uuid THEN 'unique id' ELSE 'only GPU' END AS matched_by,
         row_number() OVER (PARTITION BY c.device_id ORDER BY same_uuid AND same_slot DESC, same_slot AND exact DESC, same_uuid DESC, c.node_id) AS place
  FROM (SELECT d.id AS device_id, k.id AS node_id, i.pci IS NULL AND i.uuid IS NULL AS unknown, coalesce(lower(i.pci) = k.pci, 0) AS exact,
               coalesce(substr(lower(i.pci), 1, instr(i.pci, '.')) = substr(k.pci, 1, instr(k.pci, '.')), 0) AS same_slot,
               coalesce(lower(i.uuid) IN (lower(k.uuid), lower(hex(substr(k.uuid, 5)))), 0) AS same_uuid,
               EXISTS (SELECT 1 FROM device_prop_ x WHERE x.device = d.id AND x.name = 'pciBusId') AS has_function,
               (SELECT count(*) FROM kfd_node_ o WHERE o.session = k.session AND o.gpu AND substr(o.pci, 1, instr(o.pci, '.')) = substr(k.pci, 1, instr(k.pci, '.'))) AS in_slot,
               (SELECT count(*) FROM kfd_node_ o WHERE o.session = k.session AND o.gpu AND o.problem IS NULL) AS gpus, d.ordinal
        FROM device_ d JOIN device_ids i ON i.device_id = d.id JOIN process_ p ON p.id = d.process JOIN kfd_node_ k ON k.session = p.session AND k.gpu AND k.problem IS NULL
        WHERE d.ordinal >= 0) c
  WHERE same_uuid OR (same_slot AND (in_slot = 1 OR (exact AND has_function))) OR (unknown AND gpus = 1 AND ordinal = 0))
WHERE place = 1;

-- The GPUs that the variables leave to each process that loaded HIP, in the order of the variables' evaluation. A list
-- ends at the first entry that matches no GPU. GPUs that the driver hides (from containers) do not count for HIP
-- either. No json_extract() or json_valid(): SQLite 3.38 to 3.40 refuse them in views of an untrusted schema, as in
-- fade-query.
CREATE VIEW visible_gpus AS
WITH RECURSIVE env AS (
  SELECT p.id AS process_id, p.session, p.pid, (SELECT value FROM json_each(p.env) WHERE key = 'ROCR_VISIBLE_DEVICES') AS rocr,
         nullif((SELECT value FROM json_each(p.env) WHERE key = 'HIP_VISIBLE_DEVICES'), '') AS hip, nullif((SELECT value FROM json_each(p.env) WHERE key = 'CUDA_VISIBLE_DEVICES'), '') AS cuda
  FROM process_ p WHERE p.id IN (SELECT process FROM module_ WHERE role = 'hip')),
gpu AS (SELECT id, session, node, lower(uuid) AS uuid, row_number() OVER (PARTITION BY session ORDER BY node) - 1 AS place FROM kfd_node_ WHERE gpu AND problem IS NULL),
word_of(process_id, session, variable, place, word, rest) AS (
  SELECT process_id, session, 'rocr', -1, NULL, rocr || ',' FROM env WHERE rocr <> ''
  UNION ALL SELECT process_id, session, 'hip', -1, NULL, coalesce(hip, cuda) || ',' FROM env WHERE coalesce(hip, cuda) IS NOT NULL
  UNION ALL SELECT process_id, session, variable, place + 1, lower(trim(substr(rest, 1, instr(rest, ',') - 1))), substr(rest, instr(rest, ',') + 1) FROM word_of WHERE rest <> '' AND place < 1000),
rocr_word AS (SELECT process_id, session, place, word FROM word_of WHERE variable = 'rocr' AND place >= 0),
rocr_hit AS (SELECT w.process_id, w.place, g.id FROM rocr_word w LEFT JOIN gpu g ON g.session = w.session AND ((w.word GLOB '[0-9]*' AND w.word NOT GLOB '*[^0-9]*' AND CAST(w.word AS INTEGER) = g.place) OR (w.word LIKE 'gpu-_%' AND g.uuid = w.word))),
by_rocr AS (
  SELECT e.process_id, e.session, g.id, g.node, g.uuid, g.place FROM env e JOIN gpu g ON g.session = e.session WHERE e.rocr IS NULL
  UNION ALL
  SELECT process_id, session, id, node, uuid, row_number() OVER (PARTITION BY process_id ORDER BY least) - 1
  FROM (SELECT h.process_id, g.session, g.id, g.node, g.uuid, min(h.place) AS least FROM rocr_hit h JOIN gpu g ON g.id = h.id
        WHERE h.place < coalesce((SELECT min(b.place) FROM rocr_hit b WHERE b.process_id = h.process_id AND b.id IS NULL), 1000000) GROUP BY h.process_id, g.id)),
hip_word AS (SELECT process_id, place, word FROM word_of WHERE variable = 'hip' AND place >= 0),
hip_hit AS (SELECT w.process_id, w.place, r.id FROM hip_word w LEFT JOIN by_rocr r ON r.process_id = w.process_id AND ((w.word GLOB '[0-9]*' AND w.word NOT GLOB '*[^0-9]*' AND CAST(w.word AS INTEGER) = r.place) OR (w.word LIKE 'gpu-_%' AND r.uuid = w.word))),
by_hip AS (
  SELECT r.process_id, r.id, r.place FROM by_rocr r JOIN env e ON e.process_id = r.process_id WHERE coalesce(e.hip, e.cuda) IS NULL
  UNION ALL
  SELECT process_id, id, row_number() OVER (PARTITION BY process_id ORDER BY least) - 1
  FROM (SELECT h.process_id, h.id, min(h.place) AS least FROM hip_hit h
        WHERE h.id IS NOT NULL AND h.place < coalesce((SELECT min(b.place) FROM hip_hit b WHERE b.process_id = h.process_id AND b.id IS NULL), 1000000) GROUP BY h.process_id, h.id))
SELECT e.session, e.process_id, e.pid, g.id AS node_id, g.node, v.place AS device,
       CASE WHEN v.id IS NOT NULL THEN NULL WHEN r.id IS NULL THEN 'ROCR_VISIBLE_DEVICES' WHEN e.hip IS NOT NULL THEN 'HIP_VISIBLE_DEVICES' ELSE 'CUDA_VISIBLE_DEVICES' END AS hidden_by,
       e.rocr AS rocr_visible_devices, coalesce(e.hip, e.cuda) AS hip_visible_devices,
       CASE WHEN e.hip IS NOT NULL THEN 'HIP_VISIBLE_DEVICES' WHEN e.cuda IS NOT NULL THEN 'CUDA_VISIBLE_DEVICES' END AS hip_variable, iif(e.hip IS NOT NULL, e.cuda, NULL) AS ignored_cuda_visible_devices
FROM env e JOIN gpu g ON g.session = e.session LEFT JOIN by_rocr r ON r.process_id = e.process_id AND r.id = g.id LEFT JOIN by_hip v ON v.process_id = e.process_id AND v.id = g.id;

-- One row for each device of each process, with all known facts side by side. told_...: the runtime's answer;
-- received_...: after an override.
CREATE VIEW device_truth AS
WITH told AS (
  SELECT device, source LIKE 'override:%' AS changed,
         max(CASE WHEN name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount', 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT') THEN CAST(value AS INTEGER) END) AS multiprocessors,
         min(CASE WHEN name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount', 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT') THEN CAST(value AS INTEGER) END) AS least_multiprocessors,
         max(CASE WHEN name IN ('warpSize', 'hipDeviceAttributeWarpSize') THEN CAST(value AS INTEGER) END) AS warp_size,
         min(CASE WHEN name IN ('warpSize', 'hipDeviceAttributeWarpSize') THEN CAST(value AS INTEGER) END) AS least_warp_size,
         max(CASE WHEN name = 'totalGlobalMem' THEN CAST(value AS INTEGER) END) AS memory,
         min(CASE WHEN name = 'totalGlobalMem' THEN CAST(value AS INTEGER) END) AS least_memory,
         max(CASE WHEN name IN ('clockRate', 'hipDeviceAttributeClockRate') THEN CAST(value AS INTEGER) / 1000 END) AS clock_mhz,
         max(CASE WHEN name IN ('integrated', 'hipDeviceAttributeIntegrated') THEN CAST(value AS INTEGER) END) AS integrated
  FROM device_prop_
  WHERE name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount', 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT', 'warpSize', 'hipDeviceAttributeWarpSize', 'totalGlobalMem', 'clockRate', 'hipDeviceAttributeClockRate', 'integrated',
                 'hipDeviceAttributeIntegrated') AND (source LIKE 'api:hip%' OR source LIKE 'override:%') GROUP BY device, changed),
env AS (
  SELECT id AS process, (SELECT value FROM json_each(env) WHERE key = 'GPU_ENABLE_WGP_MODE') AS wgp_mode, (SELECT value FROM json_each(env) WHERE key = 'ROC_GLOBAL_CU_MASK') AS global_mask,
         (SELECT value FROM json_each(env) WHERE key = 'HSA_CU_MASK') AS hsa_mask, (SELECT group_concat(key || '=' || value, ' ') FROM json_each(env) WHERE key GLOB 'HSA_OVERRIDE_GFX_VERSION*') AS gfx_version
  FROM process_)
SELECT p.session, p.id AS process_id, p.pid, d.id AS device_id, d.ordinal AS device, d.name, d.arch, i.pci, coalesce(k.arch, g.arch, d.arch) GLOB 'gfx1[0-9][0-9][0-9a-f]*' AS has_wgps,
       t.multiprocessors AS told_multiprocessors, t.least_multiprocessors AS told_least_multiprocessors, t.warp_size AS told_warp_size, t.least_warp_size AS told_least_warp_size,
       t.memory AS told_memory, t.least_memory AS told_least_memory, t.clock_mhz AS told_clock_mhz, t.integrated AS told_integrated,
       o.multiprocessors AS received_multiprocessors, o.warp_size AS received_warp_size, o.memory AS received_memory,
       m.node_id, m.matched_by, k.node, k.compute_units AS driver_compute_units, k.arch AS driver_arch, k.wave_size AS driver_wave_size, k.memory AS driver_memory,
       k.max_mhz AS driver_mhz, k.cpu_cores AS driver_cpu_cores, k.device_id AS driver_device_id, k.revision AS driver_revision, k.problem AS driver_problem,
       g.id AS reference_id, g.name AS reference_name, coalesce(ng.matched_by, iif(g.id IS NULL, NULL, 'name')) AS reference_by, g.compute_units AS reference_compute_units, g.memory_mib * 1048576 AS reference_memory,
       g.shared_memory AS reference_shared_memory, g.wave_size AS reference_wave_size, g.boost_mhz AS reference_boost_mhz,
       coalesce(k.compute_units, g.compute_units) AS compute_units,
       e.wgp_mode AS gpu_enable_wgp_mode, e.global_mask AS roc_global_cu_mask, e.hsa_mask AS hsa_cu_mask, e.gfx_version AS hsa_override_gfx_version
FROM device_ d JOIN device_ids i ON i.device_id = d.id JOIN process_ p ON p.id = d.process JOIN env e ON e.process = p.id
LEFT JOIN told t ON t.device = d.id AND NOT t.changed LEFT JOIN told o ON o.device = d.id AND o.changed
LEFT JOIN device_nodes m ON m.device_id = d.id LEFT JOIN kfd_node_ k ON k.id = m.node_id LEFT JOIN node_gpus ng ON ng.node_id = k.id
LEFT JOIN gpu_ g ON g.id = coalesce(ng.gpu_id, (SELECT n.id FROM gpu_ n WHERE n.name = replace(replace(d.name, 'AMD ', ''), ' [ZLUDA]', '') AND k.device_id IS NULL ORDER BY n.id LIMIT 1))
WHERE d.ordinal >= 0;

-- The same as one row for each fact. told, received: different values with commas between them.
CREATE VIEW device_facts AS
WITH property(place, fact, unit, name, divisor) AS (VALUES
  (1, 'name', '', 'name', 0), (2, 'architecture', '', 'gcnArchName', 0), (3, 'multiprocessors', '', 'multiProcessorCount', 1), (3, 'multiprocessors', '', 'hipDeviceAttributeMultiprocessorCount', 1),
  (4, 'warp size', '', 'warpSize', 1), (4, 'warp size', '', 'hipDeviceAttributeWarpSize', 1), (5, 'memory', 'bytes', 'totalGlobalMem', 1), (6, 'clock', 'MHz', 'clockRate', 1000),
  (6, 'clock', 'MHz', 'hipDeviceAttributeClockRate', 1000), (7, 'memory clock', 'MHz', 'memoryClockRate', 1000), (7, 'memory clock', 'MHz', 'hipDeviceAttributeMemoryClockRate', 1000),
  (8, 'memory bus', 'bits', 'memoryBusWidth', 1), (8, 'memory bus', 'bits', 'hipDeviceAttributeMemoryBusWidth', 1), (9, 'L2 cache', 'bytes', 'l2CacheSize', 1), (9, 'L2 cache', 'bytes', 'hipDeviceAttributeL2CacheSize', 1),
  (3, 'multiprocessors', '', 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT', 1), (4, 'warp size', '', 'CU_DEVICE_ATTRIBUTE_WARP_SIZE', 1), (6, 'clock', 'MHz', 'CU_DEVICE_ATTRIBUTE_CLOCK_RATE', 1000),
  (7, 'memory clock', 'MHz', 'CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE', 1000), (8, 'memory bus', 'bits', 'CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH', 1), (9, 'L2 cache', 'bytes', 'CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE', 1)),
answer AS (SELECT x.device, f.fact, x.source LIKE 'override:%' AS changed, x.source LIKE '%:cu%' AS zluda, substr(x.source, instr(x.source, ':') + 1) AS symbol, iif(f.divisor = 0, x.value, CAST(x.value AS INTEGER) / f.divisor) AS value FROM device_prop_ x JOIN property f ON f.name = x.name),
told AS (
  SELECT device, fact, group_concat(DISTINCT iif(changed OR zluda, NULL, value)) AS told, group_concat(DISTINCT iif(zluda AND NOT changed, value, NULL)) AS told_by_zluda,
         group_concat(DISTINCT iif(changed AND NOT zluda, value, NULL)) AS received, group_concat(DISTINCT iif(changed AND zluda, value, NULL)) AS received_from_zluda,
         group_concat(DISTINCT iif(changed, NULL, symbol)) AS told_by
  FROM answer GROUP BY device, fact)
SELECT t.session, t.pid, t.device_id, t.device, f.place, f.fact, f.unit, f.properties, a.told,
       CASE WHEN f.fact <> 'multiprocessors' THEN NULL WHEN a.told = t.compute_units THEN 'CU' WHEN t.has_wgps AND a.told * 2 = t.compute_units THEN 'WGP' END AS counts,
       a.told_by_zluda, a.received, a.received_from_zluda, a.told_by,
       CASE f.place WHEN 1 THEN k.name WHEN 2 THEN t.driver_arch WHEN 3 THEN t.driver_compute_units WHEN 4 THEN t.driver_wave_size WHEN 5 THEN t.driver_memory WHEN 6 THEN t.driver_mhz
                    WHEN 7 THEN k.memory_mhz WHEN 8 THEN k.memory_bits END AS driver,
       CASE f.place WHEN 1 THEN t.reference_name WHEN 2 THEN g.arch WHEN 3 THEN t.reference_compute_units WHEN 4 THEN t.reference_wave_size WHEN 5 THEN t.reference_memory
                    WHEN 6 THEN t.reference_boost_mhz WHEN 8 THEN g.memory_bits WHEN 9 THEN g.l2_kib * 1024 END AS reference,
       CASE f.place WHEN 1 THEN v.name WHEN 5 THEN v.memory WHEN 8 THEN v.memory_bits END AS told_by_nvml
FROM device_truth t JOIN (SELECT place, fact, unit, group_concat(name) AS properties FROM property GROUP BY place) f LEFT JOIN told a ON a.device = t.device_id AND a.fact = f.fact
LEFT JOIN kfd_node_ k ON k.id = t.node_id LEFT JOIN gpu_ g ON g.id = t.reference_id LEFT JOIN nvml_devices v ON v.device_id = t.device_id;
-- ---------------------------------------------------------------- was the GPU used
-- Failed calls, with the meaning of their result. normal: an answer and not a failure.
CREATE VIEW failures AS
SELECT e.id, p.session, e.ts AS start, p.id AS process_id, p.pid, t.id AS thread_id, t.tid, f.name, f.kind, e.code, e.name AS error, e.n AS repeats, e.ts_last AS last,
       e.call AS call_id, e.args, e.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library,
       coalesce(r.class, 'other') AS class, coalesce(r.class = 'normal', 0) AS normal, r.meaning, r.advice, k.stack
FROM error_ e JOIN thread_ t ON t.id = e.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = e.fn LEFT JOIN call_site_ s ON s.id = e.caller LEFT JOIN call_stack_ k ON k.call = e.call
LEFT JOIN result_rule_ r ON r.code = e.code
     AND r.function = (SELECT q.function FROM result_rule_ q WHERE q.code = e.code AND f.name GLOB q.function ORDER BY length(q.function) DESC LIMIT 1);

CREATE VIEW result_rules AS SELECT function, code, class, meaning, advice FROM result_rule_;

CREATE VIEW process_use AS
SELECT p.session, p.pid, u.process AS process_id, u.sec, u.calls, u.errors, u.launches, u.failed_launches, u.first_launch, u.last_launch
FROM process_use_ u JOIN process_ p ON p.id = u.process;

CREATE VIEW cpu_samples AS
SELECT p.session, p.pid, c.process AS process_id, c.ts AS start, c.cpu_ns FROM cpu_sample_ c JOIN process_ p ON p.id = c.process;

-- The facts that verdicts are made from. Without JSON functions, which SQLite refuses in views of an untrusted file. A
-- forked process that runs its parent's program has the parent's libraries.
CREATE VIEW gpu_use AS
WITH RECURSIVE
  ran(process) AS (SELECT DISTINCT process FROM lifecycle_ WHERE kind = 'exec' AND process IS NOT NULL),
  image(process, holder) AS (
    SELECT id, id FROM process_ WHERE parent IS NULL OR id IN (SELECT process FROM ran)
    UNION ALL SELECT c.id, i.holder FROM image i JOIN process_ c ON c.parent = i.process WHERE c.id NOT IN (SELECT process FROM ran)),
  loaded AS (
    SELECT process, path, role, sites FROM module_
    UNION ALL SELECT i.process, m.path, m.role, m.sites FROM image i JOIN process_ p ON p.id = i.process JOIN module_ m ON m.process = i.holder
    WHERE i.holder <> i.process AND m.ts <= p.ts),
  library AS (
    SELECT process, min(CASE role WHEN 'hip' THEN path END) AS hip, sum(CASE role WHEN 'hip' THEN sites ELSE 0 END) AS sites,
           min(CASE WHEN path GLOB '*libtorch_cpu.so*' THEN path END) AS torch, min(CASE WHEN path GLOB '*libtorch_hip.so*' OR path GLOB '*libtorch_cuda.so*' THEN path END) AS torch_gpu,
           min(CASE WHEN path GLOB '*libcuda.so*' OR path GLOB '*libcudart.so*' OR path GLOB '*libnvcuda.so*' THEN path END) AS cuda
    FROM loaded GROUP BY process),
  work AS (
    SELECT t.process, sum(x.n) AS calls, sum(CASE WHEN f.kind IN ('alloc', 'host_alloc', 'copy', 'set', 'module_load') THEN x.n - x.errors ELSE 0 END) AS moved,
           sum(CASE WHEN f.name = 'hipGetDeviceCount' THEN x.n ELSE 0 END) AS counted
    FROM call_stat_ x JOIN thread_ t ON t.id = x.thread JOIN function_ f ON f.id = x.fn AND f.api <> 'nvml' AND f.grp <> 'marker' GROUP BY t.process),
  launch AS (
    SELECT process, sum(launches) AS launches, sum(failed_launches) AS failed_launches, min(first_launch) AS first_launch, max(last_launch) AS last_launch, max(sec) AS last_sec
    FROM process_use_ GROUP BY process),
  cpu AS (SELECT process, max(cpu_ns) AS cpu_ns, max(ts) AS ts FROM cpu_sample_ GROUP BY process),
  cut AS MATERIALIZED (SELECT process_id AS process, min(start) AS ts FROM narrowings WHERE word = 'window' AND "end" IS NULL GROUP BY process_id),
  failed AS (SELECT process_id, sum(repeats) AS failures, min(id) AS first_failure, max(code = 100) AS no_device FROM failures WHERE NOT normal AND name NOT GLOB 'nvml*' GROUP BY process_id)
SELECT p.session, p.id AS process_id, p.pid, p.parent AS parent_id, p.command, p.ts AS start,
       min(coalesce(p.ts_end, s.end_ns - s.start_ns, max(coalesce((l.last_sec + 1) * 1000000000, 0), coalesce(c.ts, 0), p.ts)), coalesce(k.ts, 9223372036854775807)) AS until,
       p.exit_code, p.exit_signal, i.holder <> p.id AS is_copy,
       EXISTS (SELECT 1 FROM process_ k WHERE k.parent = p.id AND k.id IN (SELECT process FROM ran)) AS starts_others,
       (SELECT x.detail FROM lifecycle_ x WHERE x.process = p.id AND x.kind = 'unwatched' ORDER BY x.id DESC LIMIT 1) AS unwatched,
       b.hip AS hip_library, coalesce(b.sites, 0) AS functions_watched, b.torch AS torch_library, b.torch_gpu AS torch_gpu_library, b.cuda AS cuda_library,
       coalesce(w.calls, 0) AS calls, coalesce(f.failures, 0) AS failures, f.first_failure AS first_failure_id, coalesce(w.moved, 0) AS allocations_and_copies,
       coalesce(l.launches, 0) AS launches, coalesce(l.failed_launches, 0) AS failed_launches, l.first_launch, l.last_launch, c.cpu_ns,
       c.cpu_ns - (SELECT max(y.cpu_ns) FROM cpu_sample_ y WHERE y.process = p.id AND y.ts <= l.last_launch) AS cpu_after_launches_ns,
       CASE WHEN w.counted > 0 THEN (SELECT CASE WHEN y.result = 100 THEN 0 WHEN a.args GLOB '*"count":[0-9]*' THEN CAST(substr(a.args, instr(a.args, '"count":') + 8) AS INTEGER) END FROM arg_ a JOIN call_ y ON y.id = a.call JOIN thread_ t ON t.id = y.thread
                                     JOIN function_ g ON g.id = y.fn WHERE g.name = 'hipGetDeviceCount' AND t.process = p.id ORDER BY a.call LIMIT 1) END AS devices_offered,
       coalesce(f.no_device, 0) AS no_device,
       (SELECT group_concat(x.detail, '; ') FROM lifecycle_ x WHERE x.process = p.id AND x.kind = 'device-refused') AS refused,
       (SELECT x.detail FROM lifecycle_ x WHERE x.process = p.id AND x.kind = 'device-missing' LIMIT 1) AS missing,
       (SELECT group_concat(name || '=' || substr(rest, 1, instr(rest, '"') - 1), ' ') FROM (SELECT column1 AS name, substr(p.env, instr(p.env, '"' || column1 || '":"') + length(column1) + 4) AS rest
        FROM (VALUES ('ROCR_VISIBLE_DEVICES'), ('HIP_VISIBLE_DEVICES'), ('CUDA_VISIBLE_DEVICES')) WHERE instr(p.env, '"' || column1 || '":"') > 0)) AS visible_devices
FROM process_ p JOIN session_ s ON s.id = p.session LEFT JOIN image i ON i.process = p.id LEFT JOIN library b ON b.process = p.id LEFT JOIN work w ON w.process = p.id
LEFT JOIN launch l ON l.process = p.id LEFT JOIN cpu c ON c.process = p.id LEFT JOIN cut k ON k.process = p.id LEFT JOIN failed f ON f.process_id = p.id;

-- blocked: the first failure of a call that would have given the GPU work. ended: the first such failure after which no launch succeeded.
CREATE VIEW verdicts AS
WITH
  u AS MATERIALIZED (SELECT * FROM gpu_use),
  bad AS MATERIALIZED (SELECT * FROM failures WHERE NOT normal AND name NOT GLOB 'nvml*'),  -- which asks, and does no work
  blocked AS (SELECT process_id, min(id) AS id FROM bad
              WHERE kind IN ('launch', 'graph', 'alloc', 'copy', 'set', 'module_load', 'get_function', 'stream_create') OR class IN ('sticky', 'binary') GROUP BY process_id),
  ended AS (SELECT b.process_id, min(b.id) AS id FROM bad b JOIN u ON u.process_id = b.process_id
            WHERE b.last > u.last_launch AND (b.kind IN ('launch', 'graph', 'alloc', 'module_load', 'get_function') OR b.class IN ('sticky', 'binary', 'device', 'memory')) GROUP BY b.process_id),
  w AS MATERIALIZED (
    SELECT process_id, complete, level, narrowed, why, until, narrowed GLOB '*events*' OR narrowed GLOB '*include*' OR narrowed GLOB '*exclude*' AS filtered,
           narrowed GLOB '*window*' OR narrowed GLOB '*unclean*' AS cut_off,
           -- launches may be missing between those that were seen
           narrowed GLOB '*events*' OR narrowed GLOB '*clude*' OR narrowed GLOB '*drops*' OR narrowed GLOB '*vanished*'
           OR narrowed GLOB '*return sites*' OR narrowed GLOB '*refused*' OR (NOT complete AND narrowed GLOB '*size limit*') AS open_end
    FROM watched WHERE topic = 'launches'),
  part AS MATERIALIZED (SELECT process_id, why FROM watched WHERE topic = 'hip' AND NOT complete),
  seen AS (SELECT u.*, w.filtered, w.open_end, w.narrowed, w.why AS unseen, coalesce(e.id, iif(u.launches = 0, coalesce(k.id, u.first_failure_id), NULL)) AS failure_id,
                  iif(w.open_end, NULL, e.id) AS ended_id, k.id AS blocked_id,
                  coalesce(u.exit_signal, 0) IN (4, 6, 7, 8, 11) AS crashed, coalesce(u.exit_signal, 0) > 0 OR coalesce(u.exit_code, 0) > 0 AS ended_badly,
                  coalesce(u.exit_signal, 0) IN (4, 6, 7, 8, 11) OR (coalesce(u.exit_code, 0) > 0 AND u.exit_code NOT IN (129, 130, 137, 143)) AS failed_itself,   -- not told to end
                  u.no_device OR coalesce(u.devices_offered = 0, 0) AS none_seen,
                  u.hip_library IS NULL AND u.starts_others AND u.torch_library IS NULL AS is_launcher,
                  CASE WHEN u.launches > 0 THEN NULL
                       WHEN EXISTS (SELECT 1 FROM drop_ d WHERE d.session = u.session AND d.reason IN ('the database could not be written', 'another process had the database locked'))
                         THEN 'the database could not be written, and launches may be among what is missing'
                       -- calls are written with each batch, sums about every second
                       WHEN NOT EXISTS (SELECT 1 FROM call_stat_) AND EXISTS (SELECT 1 FROM call_)
                         THEN 'its sums are not written yet: fade is still recording, or was killed in its first seconds'
                       WHEN EXISTS (SELECT 1 FROM lifecycle_ x WHERE x.process = u.process_id AND x.kind = 'vanished')
                         THEN 'it took out breakpoints, and launches may be among what is missing'
                       WHEN w.complete OR u.unwatched IS NOT NULL THEN NULL
                       WHEN u.hip_library IS NULL THEN iif(w.cut_off, 'no HIP library was loaded as long as fade watched; ' || w.why, NULL)
                       WHEN w.level = 'not' THEN 'HIP was loaded, but kernel launches were not recorded: ' || w.why
                       ELSE 'no launch of a kernel was seen, and not all were watched: ' || w.why END AS blind
           FROM u LEFT JOIN w ON w.process_id = u.process_id LEFT JOIN ended e ON e.process_id = u.process_id LEFT JOIN blocked k ON k.process_id = u.process_id),
  timed AS (SELECT x.*, b.name AS failed_function, coalesce(b.error, b.code) AS failed_result, b.class AS failed_class, b.meaning AS failed_meaning, b.advice AS failed_advice, b.code AS failed_code,
                   CASE WHEN b.start > coalesce(x.last_launch, -1) THEN b.start ELSE b.last END AS failed_at
            FROM seen x LEFT JOIN bad b ON b.id = x.failure_id),
  judged AS (SELECT t.*,
    CASE WHEN blind IS NOT NULL AND NOT crashed AND NOT (blocked_id IS NOT NULL AND failed_itself) THEN 'UNWATCHED'
         WHEN hip_library IS NULL AND unwatched IS NOT NULL AND unwatched NOT GLOB '*static program*' AND unwatched NOT GLOB '*32-bit*' THEN 'UNWATCHED'
         WHEN hip_library IS NULL THEN 'NOT_LOADED'
         WHEN calls = 0 THEN 'LOADED_UNUSED'
         WHEN launches > 0 AND ended_id IS NOT NULL AND NOT failed_itself AND until - failed_at >= 1000000000 AND (until - failed_at) * 10 >= until - first_launch THEN 'STOPPED_USING'
         WHEN launches > 0 AND (crashed OR (ended_id IS NOT NULL AND (failed_itself OR failed_class = 'sticky'))) THEN 'FAILED'
         WHEN launches > 0 THEN 'USED'
         WHEN blocked_id IS NOT NULL OR crashed THEN 'FAILED'
         WHEN allocations_and_copies > 0 THEN 'ALLOCATED_NO_LAUNCH'
         ELSE 'QUERIED_ONLY' END AS verdict,
    -- Why HIP had no device to offer; NULL where it had one.
    CASE WHEN launches > 0 OR NOT (none_seen OR coalesce(failed_class, '') = 'device') THEN NULL
         WHEN refused IS NOT NULL THEN 'permission' WHEN visible_devices IS NOT NULL THEN 'hidden' WHEN missing IS NOT NULL THEN 'no node' ELSE 'no device' END AS lack
    FROM timed t),
  told AS (SELECT j.*, iif(lack = 'no device', (SELECT group_concat(x.detail, '; ') FROM lifecycle_ x WHERE x.process = j.process_id AND x.kind = 'device-closed'), NULL) AS closed,   -- nobody forbids it but the kernel
    -- One of the processes of a program that uses the GPU elsewhere: compile workers and the like.
    verdict = 'QUERIED_ONLY' AND parent_id IS NOT NULL AND EXISTS (SELECT 1 FROM u o WHERE o.session = j.session AND o.launches > 0) AS is_helper,
    EXISTS (SELECT 1 FROM call_stat_ x JOIN thread_ t ON t.id = x.thread JOIN function_ f ON f.id = x.fn WHERE t.process = j.process_id AND f.api = 'hiprtc') AS compiled,
    CASE WHEN hip_library IS NULL THEN NOT is_launcher AND NOT EXISTS (SELECT 1 FROM u o WHERE o.session = j.session AND o.hip_library IS NOT NULL)
         ELSE NOT (is_copy AND calls = 0) END AS working
    FROM judged j)
SELECT session, process_id, pid, command, verdict, working,
  CASE WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL THEN blind
       WHEN verdict = 'UNWATCHED' THEN 'it was not watched: ' || unwatched
       WHEN verdict = 'NOT_LOADED' AND torch_library IS NOT NULL AND torch_gpu_library IS NULL THEN 'its PyTorch is a CPU-only build'
       WHEN verdict = 'NOT_LOADED' AND torch_gpu_library IS NOT NULL THEN 'its PyTorch is built for GPUs, but no HIP library was loaded'
       WHEN verdict = 'NOT_LOADED' AND is_launcher THEN 'it only started other programs'
       WHEN verdict = 'NOT_LOADED' AND cuda_library IS NOT NULL THEN 'it loaded CUDA''s library, and no HIP'
       WHEN verdict = 'NOT_LOADED' AND unwatched IS NOT NULL THEN unwatched
       WHEN verdict = 'NOT_LOADED' THEN 'no HIP library was ever loaded'
       WHEN verdict = 'LOADED_UNUSED' AND functions_watched = 0 THEN 'HIP was loaded, but none of its functions was recorded'
       WHEN verdict = 'LOADED_UNUSED' AND is_copy THEN 'a forked copy of its parent, which called nothing itself'
       WHEN verdict = 'LOADED_UNUSED' THEN 'HIP was loaded, but no recorded function was called'
       WHEN verdict = 'USED' THEN 'kernels were launched' || iif(failures > 0, ', though some calls failed', '')
       WHEN verdict = 'STOPPED_USING' THEN printf('after %s returned %s no further kernel was launched, and the process ran on', failed_function, failed_result)
       WHEN lack = 'permission' THEN 'the process may not open the GPU''s device nodes'
       WHEN lack = 'hidden' THEN 'HIP saw no GPU, and ' || visible_devices || ' says which ones it may see'
       WHEN lack = 'no node' THEN 'HIP saw no GPU: there is no /dev/kfd where the process looks'
       WHEN lack = 'no device' THEN 'HIP saw no GPU'
       WHEN verdict = 'FAILED' AND failure_id IS NULL THEN 'it died of ' || coalesce((SELECT n.name FROM signal_name_ n WHERE n.signal = exit_signal), 'signal ' || exit_signal)
       WHEN failure_id IS NOT NULL THEN printf('%s returned %s', failed_function, failed_result) || coalesce(': ' || failed_meaning, '')
       WHEN verdict = 'ALLOCATED_NO_LAUNCH' THEN 'memory was allocated or copied, but no kernel was launched'
       WHEN is_helper AND compiled THEN 'a helper that compiled kernels; another process gave the GPU work'
       WHEN is_helper THEN 'a helper that asked about GPUs; another process gave the GPU work'
       WHEN compiled THEN 'it compiled kernels and gave the GPU no work'
       WHEN devices_offered > 0 THEN printf('HIP offered %d GPU%s, and the program did not use %s', devices_offered, iif(devices_offered = 1, '', 's'), iif(devices_offered = 1, 'it', 'them'))
       ELSE 'it asked about GPUs and did nothing with them' END AS reason,
  substr(iif(hip_library IS NULL, '; no HIP library mapped', printf('; %s: %d calls, %d of them failed', hip_library, calls, failures))
    || iif(hip_library IS NULL AND torch_library IS NOT NULL, '; mapped: ' || torch_library || iif(torch_gpu_library IS NULL, ', and neither libtorch_hip nor libtorch_cuda', ', ' || torch_gpu_library), '')
    || iif(hip_library IS NULL AND cuda_library IS NOT NULL, '; mapped: ' || cuda_library, '')
    || iif(launches > 0, printf('; %d %s (%.3f to %.3f s); the process ran from %.3f to %.3f s', launches, iif(launches = 1, 'launch', 'launches'), first_launch / 1e9, last_launch / 1e9, start / 1e9, until / 1e9), '')
    || iif(failed_launches > 0, printf('; %d %s failed', failed_launches, iif(failed_launches = 1, 'launch', 'launches')), '')
    || iif(verdict = 'STOPPED_USING', printf('; the failure was at %.3f s', failed_at / 1e9), '')
    || iif(cpu_after_launches_ns IS NOT NULL AND verdict IN ('USED', 'STOPPED_USING', 'FAILED') AND until - last_launch > 1000000000, printf('; about %.1f s of CPU time in the %.1f s after the last launch', cpu_after_launches_ns / 1e9, (until - last_launch) / 1e9), '')
    || iif(launches = 0 AND cpu_ns > 0, printf('; %.1f s of CPU time', cpu_ns / 1e9), '')
    || iif(lack IS NOT NULL, coalesce('; ' || refused, '') || coalesce('; ' || missing, '') || coalesce('; ' || closed, '') || coalesce('; ' || visible_devices, ''), '')
    || iif(ended_badly, iif(exit_signal > 0, '; ended by ' || coalesce((SELECT n.name FROM signal_name_ n WHERE n.signal = exit_signal), 'signal ' || exit_signal), printf('; exit status %d', exit_code)), '')
    || coalesce((SELECT '; only a part of the run was recorded: ' || p.why FROM part p WHERE p.process_id = told.process_id), ''), 3) AS evidence,
  CASE WHEN verdict = 'USED' OR is_launcher OR is_helper OR NOT working THEN NULL
       WHEN verdict = 'UNWATCHED' AND blind GLOB 'the database*' THEN 'fade-query drops shows how much is missing, and why; record again with enough disk space and no other process that locks the database.'
       WHEN verdict = 'UNWATCHED' AND blind GLOB 'its sums*' THEN 'Ask again in 2 s; fade-query calls shows the calls.'
       WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL AND filtered THEN 'Record again without -e, --include and --exclude, or with the group kernel.'
       WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL AND narrowed GLOB '*vanished*' THEN 'fade-query lifecycle shows which breakpoints, and when.'
       WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL THEN 'Record the whole life of the process: start it with fade-run, without --delay and -d; or attach for longer.'
       WHEN verdict = 'UNWATCHED' THEN 'fade-query lifecycle shows why; record a program that runs as you, and without --exe or --only-rank.'
       WHEN verdict = 'NOT_LOADED' AND torch_library IS NOT NULL AND torch_gpu_library IS NULL THEN 'Install the ROCm build of PyTorch; python3 -c ''import torch; print(torch.version.hip)'' must not print None.'
       WHEN verdict = 'NOT_LOADED' AND cuda_library IS NOT NULL THEN 'The program was built for CUDA: use a build for ROCm, or run it through ZLUDA.'
       WHEN verdict = 'NOT_LOADED' THEN 'fade-query modules shows what was loaded; use a build of the program for ROCm, and check whether it needs an option to use the GPU.'
       WHEN verdict = 'LOADED_UNUSED' AND functions_watched = 0 THEN 'Record again without -e, --include and --exclude.'
       WHEN verdict = 'LOADED_UNUSED' THEN 'Loading HIP is not using it: tell the program to use the GPU' || iif(torch_library IS NULL, '.', ' (PyTorch: .to("cuda")).')
       WHEN verdict = 'STOPPED_USING' THEN 'The program went on without the GPU. fade-query first-error shows what failed. ' || coalesce(failed_advice, '')
       WHEN lack = 'permission' THEN 'Add the user to the group of these nodes (usermod -aG render,video USER, then log in again); in a container pass --device /dev/kfd --device /dev/dri and --group-add with the group number of this machine.'
       WHEN lack = 'hidden' THEN 'Correct the variable or unset it; -1 or a number that does not exist hides all GPUs.'
       WHEN lack = 'no node' THEN 'Load the amdgpu driver (modprobe amdgpu; dmesg | grep kfd); in a container pass --device /dev/kfd --device /dev/dri.'
       WHEN lack = 'no device' AND closed IS NOT NULL THEN 'The nodes are there and their permissions allow to open them, yet HIP did not keep them open. In a container its device rules may forbid it, which fade cannot see (docker: --device /dev/kfd --device /dev/dri instead of a mount of /dev); else a security module, or a HIP library that is too old for this GPU. rocminfo as the same user, in the same container, says more.'
       WHEN lack = 'no device' THEN 'Look at the GPU with rocminfo as the same user; the HIP library may be too old for this GPU.'
       WHEN verdict = 'FAILED' AND failure_id IS NULL THEN 'fade-query calls --unfinished shows where it was; GPU faults are logged in dmesg.'
       WHEN failure_id IS NOT NULL THEN coalesce(failed_advice, 'fade-query first-error shows the call with its arguments and what followed.')
       WHEN verdict = 'ALLOCATED_NO_LAUNCH' THEN 'The data is on the GPU, but the work is not: check which device the program computes on' || iif(torch_library IS NULL, '.', ' (PyTorch: model and tensors must both be on "cuda").')
       ELSE 'Tell the program to use the GPU; fade-query props shows what HIP said about the devices.' || iif(torch_library IS NULL, '', ' PyTorch may distrust HIP''s count: compare torch.cuda.device_count().') END AS advice,
  launches, failed_launches, first_launch, last_launch, calls, failures, failure_id, start, until, cpu_ns, cpu_after_launches_ns
FROM told;

-- The verdict of a recording is the verdict of its working processes; of several, the first in this order.
CREATE VIEW session_verdicts AS
SELECT session, verdict, reason, evidence, advice, process_id, pid, command, working, processes FROM (
  SELECT v.*, count(*) OVER (PARTITION BY session) AS processes, row_number() OVER (PARTITION BY session ORDER BY working DESC,
    CASE iif(verdict = 'UNWATCHED' AND has_hip, 'UNKNOWN', verdict) WHEN 'FAILED' THEN 1 WHEN 'STOPPED_USING' THEN 2 WHEN 'USED' THEN 3 WHEN 'UNKNOWN' THEN 3.5 WHEN 'ALLOCATED_NO_LAUNCH' THEN 4 WHEN 'QUERIED_ONLY' THEN 5 WHEN 'LOADED_UNUSED' THEN 6
                 WHEN 'NOT_LOADED' THEN 7 ELSE 8 END,
    reason LIKE '%PyTorch%' DESC, launches DESC, cpu_ns DESC, until - start DESC, process_id) AS place
  FROM (SELECT v.*, EXISTS (SELECT 1 FROM module_ m WHERE m.process = v.process_id AND m.role = 'hip') AS has_hip FROM verdicts v) v) WHERE place = 1;

CREATE VIEW first_errors AS
WITH e AS (SELECT * FROM failures WHERE id IN (SELECT min(id) FROM failures WHERE NOT normal GROUP BY process_id)),
  row_limits(most) AS (VALUES (100000)),   -- how far ahead the same thread's next calls are looked for
  after AS (SELECT e.id, (SELECT y.id FROM call_ y WHERE y.id > e.call_id AND y.id <= e.call_id + most AND y.thread = e.thread_id AND y.ts >= e.start ORDER BY y.id LIMIT 1) AS next_call,
                   (SELECT y.id FROM call_ y JOIN function_ g ON g.id = y.fn WHERE y.id > e.call_id AND y.id <= e.call_id + most AND y.thread = e.thread_id AND y.ts >= e.start AND g.kind = 'error'
                    ORDER BY y.id LIMIT 1) AS asked_call
            FROM e, row_limits)
SELECT e.session, e.process_id, e.pid, p.command, e.tid, e.start, e.name, e.code, e.error, e.meaning, e.class, e.class = 'sticky' AS sticky, e.args, e.caller, e.caller_library, e.call_id,
       (SELECT g.name FROM call_ y JOIN call_ z ON z.id = y.id - y.up JOIN function_ g ON g.id = z.fn WHERE y.id = e.call_id) AS inside,
       (SELECT g.name FROM call_ y JOIN function_ g ON g.id = y.fn WHERE y.id = a.next_call) AS next_name,
       (SELECT r.name FROM call_ y JOIN result_name_ r ON r.fn = y.fn AND r.code = y.result WHERE y.id = a.next_call) AS next_result,
       (SELECT g.name FROM call_ y JOIN function_ g ON g.id = y.fn WHERE y.id = a.asked_call) AS asked_name,
       (SELECT coalesce((SELECT r.name FROM result_name_ r WHERE r.fn = y.fn AND r.code = y.result), y.result, 0) FROM call_ y WHERE y.id = a.asked_call) AS asked_result,
       EXISTS (SELECT 1 FROM function_ g WHERE g.session = e.session AND g.name = 'hipGetLastError') AS asking_is_watched,
       CASE WHEN s.detail <> 'stats' THEN (SELECT count(*) FROM call_ y JOIN thread_ t ON t.id = y.thread WHERE y.id > e.call_id AND y.ts >= e.start AND t.process = e.process_id) END AS calls_after,
       (SELECT coalesce(sum(x.repeats), 0) FROM failures x WHERE x.process_id = e.process_id AND NOT x.normal) - 1 AS failures_after,
       (SELECT coalesce(sum(x.repeats), 0) FROM failures x WHERE x.process_id = e.process_id AND x.code = e.code AND NOT x.normal) - 1 AS same_after,
       v.verdict, e.advice
FROM e JOIN after a ON a.id = e.id JOIN process_ p ON p.id = e.process_id JOIN session_ s ON s.id = e.session LEFT JOIN verdicts v ON v.process_id = e.process_id;

-- The conditions of fade-query check: a row for each session and condition. n: how often it is met, 0: not met.
-- unknown: the reason if n is unknown, because a part that it depends on was not watched.
CREATE VIEW checks AS
WITH
  part AS MATERIALIZED (
    SELECT session, topic, min(coalesce('process ' || pid || ': ', '') || why) AS why,
           max(trim(replace(replace(replace(narrowed, 'attach', ''), 'delay', ''), 'detail', ''), ',') <> '') AS open_end
    FROM watched WHERE NOT complete GROUP BY session, topic),
  failed AS (
    SELECT s.id AS session, coalesce(sum(f.repeats), 0) AS n,
           sum(f.repeats) || iif(sum(f.repeats) = 1, ' call', ' calls') || ' failed; the first: '
           || (SELECT x.name || ' returned ' || coalesce(x.error, x.code) FROM failures x WHERE x.session = s.id AND NOT x.normal ORDER BY x.id LIMIT 1) AS detail
    FROM session_ s LEFT JOIN failures f ON f.session = s.id AND NOT f.normal GROUP BY s.id),
  live AS (SELECT s.id AS session, coalesce(sum(m.live_at_end), 0) AS n FROM session_ s LEFT JOIN memory_totals m ON m.session = s.id GROUP BY s.id),
  found AS (
    SELECT s.id AS session, count(DISTINCT f.finding) AS n, 'fade-query findings explains: ' || group_concat(DISTINCT f.finding) AS detail
    FROM session_ s LEFT JOIN findings f ON f.session = s.id AND f.severity <> 'info' GROUP BY s.id)
SELECT v.session, 'not-used' AS condition, v.verdict NOT IN ('USED', 'UNWATCHED') AS n, v.reason || ' (verdict ' || v.verdict || ', process ' || v.pid || ')' AS detail, 1 AS usual,
       iif(v.verdict = 'UNWATCHED', v.reason || ' (verdict UNWATCHED, process ' || v.pid || ')', NULL) AS unknown
  FROM session_verdicts v
UNION ALL SELECT f.session, 'errors', f.n, f.detail, 1, iif(f.n = 0, 'no call that was watched failed; ' || p.why, NULL)
  FROM failed f LEFT JOIN part p ON p.session = f.session AND p.topic = 'errors'
UNION ALL SELECT s.id, 'dropped', coalesce(sum(d.n), 0), sum(d.n) || iif(sum(d.n) = 1, ' event was', ' events were') || ' not recorded: ' || min(d.reason), 1, NULL
  FROM session_ s LEFT JOIN drop_ d ON d.session = s.id GROUP BY s.id
UNION ALL SELECT s.id, 'dropped', count(l.id), 'calls were not recorded: ' || min(l.detail), 1, NULL FROM session_ s LEFT JOIN lifecycle_ l ON l.session = s.id AND l.kind = 'vanished' GROUP BY s.id
UNION ALL SELECT s.id, 'unclean', s.clean = 0, 'the recording was not closed: fade was killed, or is still recording', 1, NULL FROM session_ s
UNION ALL SELECT s.id, 'overwritten', coalesce(sum(o.hits), 0), sum(o.hits) || iif(sum(o.hits) = 1, ' answer was', ' answers were') || ' overwritten: ' || group_concat(CASE WHEN o.hits > 0 THEN o.spec END, ', '), 0,
       iif(s.clean = 0 AND coalesce(sum(o.hits), 0) = 0 AND count(o.id) > 0, 'the recording was not closed: what came last is not known', NULL)
  FROM session_ s LEFT JOIN overrides o ON o.session = s.id GROUP BY s.id
UNION ALL SELECT x.session, 'leaks', iif(f.open_end, 0, x.n), x.n || ' bytes of GPU memory or pinned memory were never freed', 0,
       CASE WHEN x.n > 0 AND f.open_end THEN x.n || ' bytes were not seen to be freed; ' || f.why
            WHEN x.n = 0 THEN 'all memory whose allocation was watched was freed; ' || m.why END
  FROM live x LEFT JOIN part f ON f.session = x.session AND f.topic = 'frees' LEFT JOIN part m ON m.session = x.session AND m.topic = 'memory'
UNION ALL SELECT s.id, 'unwatched', count(l.id), 'not watched: ' || (SELECT x.detail FROM lifecycle_ x WHERE x.session = s.id AND x.kind IN ('unwatched', 'refused', 'untraced') ORDER BY x.id LIMIT 1), 0, NULL
  FROM session_ s LEFT JOIN lifecycle_ l ON l.session = s.id AND l.kind IN ('unwatched', 'refused', 'untraced') GROUP BY s.id
UNION ALL SELECT f.session, 'findings', f.n, f.detail, 0, iif(f.n = 0, 'nothing was found in what was watched; ' || p.why, NULL) FROM found f LEFT JOIN part p ON p.session = f.session AND p.topic = 'hip'
UNION ALL SELECT s.id, 'exit', coalesce(p.exit_signal, 0) > 0 OR coalesce(p.exit_code, 0) > 0, CASE WHEN p.exit_signal > 0 THEN 'the program was ended by ' || coalesce((SELECT n.name FROM signal_name_ n WHERE n.signal = p.exit_signal), 'signal ' || p.exit_signal) ELSE 'the program ended with exit status ' || p.exit_code END, 0,
       iif(p.id IS NULL OR p.ts_end IS NULL OR coalesce(p.exit_signal, p.exit_code) IS NULL, 'the program had not ended when the recording did', NULL)
  FROM session_ s LEFT JOIN process_ p ON p.id = (SELECT min(x.id) FROM process_ x WHERE x.session = s.id);

CREATE VIEW thread_devices AS
SELECT p.session, d.thread AS thread_id, d.call AS call_id, d.device
FROM thread_device_ d JOIN thread_ t ON t.id = d.thread JOIN process_ p ON p.id = t.process;

-- The first matching rule gives a function its category; NULL matches anything.
CREATE VIEW function_categories AS
WITH rule(n, api, kind, grp, category) AS (VALUES
  (1, 'cuda', NULL, NULL, 'REDIRECT'), (2, 'cudart', NULL, NULL, 'REDIRECT'), (3, 'nvml', NULL, NULL, 'REDIRECT'),
  (10, NULL, 'launch', NULL, 'KERNEL'), (11, NULL, 'copy', NULL, 'COPY'), (12, NULL, 'set', NULL, 'COPY'),
  (13, NULL, 'alloc', NULL, 'MEMORY'), (14, NULL, 'free', NULL, 'MEMORY'), (15, NULL, 'host_alloc', NULL, 'MEMORY'), (16, NULL, 'host_free', NULL, 'MEMORY'),
  (17, NULL, 'stream_create', NULL, 'STREAM'), (18, NULL, 'stream_destroy', NULL, 'STREAM'), (19, NULL, 'event', NULL, 'STREAM'), (20, NULL, 'sync', NULL, 'SYNC'),
  (21, NULL, 'set_device', NULL, 'DEVICE'), (22, NULL, 'get_device', NULL, 'DEVICE'), (23, NULL, 'device_query', NULL, 'DEVICE'),
  (24, NULL, 'module_load', NULL, 'MODULE'), (25, NULL, 'get_function', NULL, 'MODULE'), (26, NULL, 'register', NULL, 'MODULE'),
  (27, NULL, 'error', NULL, 'ERROR'), (28, NULL, 'graph', NULL, 'GRAPH'),
  (40, 'hiprtc', NULL, NULL, 'COMPILE'),
  (50, NULL, NULL, 'mem', 'MEMORY'), (51, NULL, NULL, 'pointer', 'MEMORY'), (52, NULL, NULL, 'texture', 'MEMORY'), (53, NULL, NULL, 'copy', 'COPY'),
  (54, NULL, NULL, 'sync', 'SYNC'), (55, NULL, NULL, 'stream', 'STREAM'), (56, NULL, NULL, 'event', 'STREAM'), (57, NULL, NULL, 'kernel', 'KERNEL'),
  (58, NULL, NULL, 'config', 'KERNEL'), (59, NULL, NULL, 'module', 'MODULE'), (60, NULL, NULL, 'register', 'MODULE'), (61, NULL, NULL, 'device', 'DEVICE'),
  (62, NULL, NULL, 'graph', 'GRAPH'), (63, NULL, NULL, 'error', 'ERROR'), (64, NULL, NULL, 'marker', 'MARKER'),
  (99, NULL, NULL, NULL, 'OTHER'))
SELECT f.id AS function_id, f.session, f.name,
       (SELECT r.category FROM rule r WHERE coalesce(r.api, f.api) = f.api AND coalesce(r.kind, f.kind) = f.kind AND coalesce(r.grp, f.grp) = f.grp ORDER BY r.n LIMIT 1) AS category
FROM function_ f;

-- ---------------------------------------------------------------- which library answers
CREATE VIEW bindings AS
SELECT b.module AS module_id, p.session, p.pid, m.path AS module, b.api, CASE b.state WHEN 0 THEN 'bound' WHEN 1 THEN 'not called yet' ELSE 'not found' END AS state,
       t.id AS library_id, t.path AS library, nullif(coalesce(o.version, t.version), '') AS version, o.rocm, t.build_id, o.rule AS found_by, a.path AS asked_by,
       b.n AS functions, b.names, b.ts AS read_at
FROM binding_ b JOIN module_ m ON m.id = b.module JOIN process_ p ON p.id = m.process LEFT JOIN module_ t ON t.id = b.target
LEFT JOIN origin_ o ON o.module = b.target LEFT JOIN module_ a ON a.id = o.asker;

CREATE VIEW module_origins AS
SELECT m.id AS module_id, p.session, p.id AS process_id, p.pid, (SELECT count(*) FROM lifecycle_ l WHERE l.process = p.id AND l.kind = 'exec' AND l.ts <= m.ts) AS program,
       m.path, o.family, o.kind, nullif(coalesce(o.version, m.version), '') AS version, o.rocm, m.build_id, o.space, o.rule AS found_by, a.path AS asked_by,
       o.rpath, o.runpath, o.not_taken, m.ts AS start, m.ts_end AS "end"
FROM origin_ o JOIN module_ m ON m.id = o.module JOIN process_ p ON p.id = m.process LEFT JOIN module_ a ON a.id = o.asker;

-- Unusual bindings; findings/*.sql take their rows from here.
CREATE VIEW environment_findings AS
WITH lib AS MATERIALIZED (SELECT *, path || coalesce(' (' || version || ')', '') AS label FROM module_origins WHERE space = 0),
copy AS (  -- files of one library that were loaded at the same time
  SELECT DISTINCT a.session, a.process_id, a.pid, a.program, a.family, a.kind, a.path, a.label
  FROM lib a JOIN lib b ON b.process_id = a.process_id AND b.program = a.program AND b.family = a.family AND b.path <> a.path
   AND a.start < coalesce(b."end", 9e18) AND b.start < coalesce(a."end", 9e18)
  ORDER BY a.path),
release AS (
  SELECT session, process_id, pid, program, rocm, count(*) AS libraries, group_concat(DISTINCT label) AS labels
  FROM (SELECT * FROM lib WHERE rocm IS NOT NULL ORDER BY path) GROUP BY process_id, program, rocm),
env AS (
  SELECT p.id AS process_id, p.session, p.pid, e.key AS name, e.value FROM process_ p, json_each(p.env) e
  WHERE e.key IN ('LD_PRELOAD', 'LD_AUDIT') AND e.value <> '' AND p.id IN (SELECT process_id FROM lib WHERE kind IN ('rocm', 'cuda')))
SELECT session, pid, 'several-copies' AS kind, iif(kind IN ('rocm', 'cuda'), 'warning', 'info') AS severity, family AS subject,
       printf('%d copies of %s are loaded in one process: %s.', count(*), family, group_concat(label, ', ')) AS text,
       CASE kind WHEN 'openmp' THEN 'Each copy starts its own threads, so there may be more threads than cores. If the program is slow on the CPU: make all packages use one OpenMP library, or set OMP_NUM_THREADS.'
                 WHEN 'c++' THEN 'What was built against the newer copy can fail with the older one (version GLIBCXX_... not found, crashes in exceptions). With conda beside the system''s ROCm: bring conda''s libstdcxx-ng up to date, and keep conda''s lib folder out of LD_LIBRARY_PATH.'
                 ELSE 'Each copy has its own devices, streams and memory: a pointer or stream of one means nothing to the other. fade-query redirects shows which module uses which copy; make all of them use one, or remove the package that brings the other.' END AS advice
FROM copy GROUP BY process_id, program, family
UNION ALL
SELECT session, pid, 'mixed-openmp', 'warning', group_concat(DISTINCT family), printf('Different OpenMP libraries are loaded in one process: %s.', group_concat(DISTINCT label)),
       'Each of them starts its own threads and assumes it has the whole machine to itself; libiomp5 and libomp may stop the program ("already initialized"). Install packages that use the same one; KMP_DUPLICATE_LIB_OK=TRUE only hides it.'
FROM (SELECT * FROM lib WHERE kind = 'openmp' ORDER BY path) GROUP BY process_id, program HAVING count(DISTINCT family) > 1
UNION ALL
SELECT session, pid, 'mixed-rocm', 'warning', 'ROCm ' || group_concat(rocm, ', '),
       printf('Libraries of %d releases of ROCm are loaded in one process: %s.', count(*), group_concat(printf('%s: %s', rocm, labels), '; ')),
       'AMD tests releases as a whole; mixed ones fail in odd ways or run slower. fade-query modules shows the file of each: wheels bring their own, LD_LIBRARY_PATH and /opt/rocm add others.'
FROM (SELECT * FROM release ORDER BY rocm) GROUP BY process_id, program HAVING count(*) > 1
UNION ALL
SELECT b.session, b.pid, 'interposed', 'warning', b.library,
       printf('%d %s function%s of %s%s answered by %s%s, which is no %s: %s.', max(b.functions), b.api, iif(max(b.functions) = 1, '', 's'), min(b.module),
              iif(count(DISTINCT b.module) > 1, printf(' and %d others', count(DISTINCT b.module) - 1), '') || iif(max(b.functions) = 1, ' is', ' are'), b.library,
              CASE b.found_by WHEN 'LD_PRELOAD' THEN ' (LD_PRELOAD)' ELSE '' END, iif(b.api = 'hip', 'HIP runtime', 'runtime compiler'), max(b.names)),
       'A library sits between the program and the runtime. If you do not know it, check LD_PRELOAD and the libraries that the program links with. Times and results are those of the runtime, if that library calls it.'
FROM bindings b JOIN module_ t ON t.id = b.library_id
WHERE b.api IN ('hip', 'hiprtc') AND b.state = 'bound' AND coalesce(t.role, '') NOT IN ('hip', 'hiprtc') GROUP BY b.session, b.pid, b.api, b.library
UNION ALL
SELECT session, pid, 'other-copy-not-taken', iif(found_by = 'RPATH', 'warning', 'info'), path,
       printf('%s was taken from %s %s. Not taken: %s.', family, path,
              CASE found_by WHEN 'RPATH' THEN printf('because of the RPATH of %s', asked_by) WHEN 'RUNPATH' THEN printf('because of the RUNPATH of %s', asked_by)
                            WHEN 'system' THEN 'as the system''s default'
                            WHEN 'its path' THEN 'because the library that needs it has its full path' ELSE 'by the program itself (dlopen)' END, not_taken),
       CASE found_by WHEN 'RPATH' THEN printf('An RPATH comes before LD_LIBRARY_PATH. To use the other one: patchelf --remove-rpath %s, or a build of it that was made for the other one.', asked_by)
                     ELSE 'To use the other one, put its folder into LD_LIBRARY_PATH, which comes before RUNPATH and the system''s folders.' END
FROM lib WHERE not_taken IS NOT NULL AND kind IN ('rocm', 'cuda') AND found_by NOT IN ('LD_LIBRARY_PATH', 'LD_PRELOAD') GROUP BY process_id, program, path
UNION ALL
SELECT session, pid, iif(name = 'LD_PRELOAD', 'preloaded', 'audited'), 'info', name, printf('%s=%s was set when the program began.', name, value),
       iif(name = 'LD_PRELOAD', 'These libraries are asked first for every function. fade-query redirects shows which functions of the GPU stack they answer.',
           'An auditor sees every library that is loaded and may replace it; ZLUDA''s zluda_ld does so with the CUDA libraries.')
FROM env;

CREATE VIEW function_names AS
SELECT n.fn AS function_id, f.session, f.name, n.name AS other_name FROM function_name_ n JOIN function_ f ON f.id = n.fn;

-- ---------------------------------------------------------------- NVML
CREATE VIEW nvml_answers AS
SELECT a.id, p.session, p.id AS process_id, p.pid, a.nvml_index, a.handle, iif(a.handle IS NULL, NULL, printf('0x%x', a.handle)) AS handle_hex, a.name, a.value, a.source, a.call AS call_id, a.ts AS start
FROM nvml_answer_ a JOIN process_ p ON p.id = a.process;

-- One row for each device in NVML's answers, with its last answers. The PCI address alone decides which HIP device it
-- is.
CREATE VIEW nvml_devices AS
WITH last AS (
  SELECT session, process_id, pid, coalesce(nvml_index, -handle) AS place, nvml_index, name, value, max(id) FROM nvml_answers WHERE handle IS NOT NULL GROUP BY process_id, coalesce(nvml_index, -handle), name),
one AS (
  SELECT session, process_id, pid, place, max(nvml_index) AS nvml_index, max(CASE name WHEN 'name' THEN value END) AS name, max(CASE name WHEN 'uuid' THEN value END) AS uuid, max(CASE name WHEN 'pci' THEN value END) AS pci,
         max(CASE name WHEN 'totalMemory' THEN CAST(value AS INTEGER) END) AS memory, max(CASE name WHEN 'memoryBusWidth' THEN CAST(value AS INTEGER) END) AS memory_bits,
         max(CASE name WHEN 'cuda.major' THEN value END) || '.' || max(CASE name WHEN 'cuda.minor' THEN value END) AS capability
  FROM last GROUP BY process_id, place)
SELECT o.session, o.process_id, o.pid, o.nvml_index, o.name, o.uuid, o.pci, o.memory, o.memory_bits, o.capability, d.id AS device_id, d.ordinal AS device
FROM one o LEFT JOIN (
  SELECT d.id, d.process, d.ordinal, i.pci FROM device_ d JOIN device_ids i ON i.device_id = d.id) d
  ON d.process = o.process_id AND d.ordinal >= 0 AND substr(lower(d.pci), 1, instr(d.pci, '.')) = substr(o.pci, 1, instr(o.pci, '.'));
-- ---------------------------------------------------------------- the program's own ranges; steps, waits, idle times
CREATE VIEW ranges AS
SELECT r.id, p.session, p.id AS process_id, p.pid, t.tid, n.name, CASE r.form WHEN 0 THEN 'range' WHEN 1 THEN 'start-stop' ELSE 'mark' END AS kind, r.depth, r.up AS parent_id,
       r.ts AS start, r.ts + r.dur AS "end", r.dur AS duration, CASE WHEN r.dur IS NULL THEN 'open' ELSE (CASE r.ended WHEN 0 THEN 'program' WHEN 1 THEN 'thread' WHEN 2 THEN 'process' WHEN 3 THEN 'exec' ELSE 'recording' END) END AS ended_by,
       e.tid AS end_tid, r.call AS first_call_id, r.call_end AS last_call_id, r.thread AS thread_id
FROM range_ r JOIN process_ p ON p.id = r.process JOIN thread_ t ON t.id = r.thread JOIN range_name_ n ON n.id = r.name LEFT JOIN thread_ e ON e.id = r.thread_end;

-- Calls between those that open and close a range, of its thread. Ids are in order of time: a range is a range of ids.
CREATE VIEW range_calls AS
SELECT r.id AS range_id, n.name AS range_name, r.depth, c.id AS call_id, c.ts AS start, c.dur AS duration, f.name, c.thread AS thread_id, c.fn AS function_id
FROM range_ r JOIN range_name_ n ON n.id = r.name JOIN call_ c ON c.id > r.call AND c.id < coalesce(r.call_end, 9223372036854775807) AND c.thread = r.thread AND c.ts < coalesce(r.ts + r.dur, 9223372036854775807)
JOIN function_ f ON f.id = c.fn WHERE r.form <> 2 AND f.grp <> 'marker';

CREATE VIEW range_stats AS
SELECT p.session, p.pid, n.name, CASE x.form WHEN 0 THEN 'range' WHEN 1 THEN 'start-stop' ELSE 'mark' END AS kind, x.n, x.unclosed, x.total AS total_ns, x.total / x.n AS avg_ns, x.min AS min_ns, x.max AS max_ns, x.hist
FROM range_stat_ x JOIN process_ p ON p.id = x.process JOIN range_name_ n ON n.id = x.name;

CREATE VIEW range_faults AS
SELECT p.session, p.pid, x.kind, x.n FROM range_fault_ x JOIN process_ p ON p.id = x.process;

-- With the names of rocpd's regions.
CREATE VIEW markers AS
SELECT id, NULL AS guid, CASE kind WHEN 'mark' THEN 'MARKER_CORE_API' ELSE 'MARKER_CORE_RANGE_API' END AS category, name, NULL AS nid, pid, tid, start, "end", duration,
       first_call_id AS event_id, NULL AS stack_id, parent_id AS parent_stack_id, first_call_id AS correlation_id
FROM ranges;

-- Steps with the usual duration in their thread: the median of complete steps. A step is slow if it took more than one
-- and a half times the median of three or more steps.
CREATE VIEW steps AS
WITH ranked AS (
  SELECT id, thread, dur, row_number() OVER (PARTITION BY thread ORDER BY dur) AS place, count(*) OVER (PARTITION BY thread) AS n FROM step_ WHERE complete),
usual AS MATERIALIZED (SELECT thread, n, CAST(avg(dur) AS INTEGER) AS median FROM ranked WHERE place IN ((n + 1) / 2, n / 2 + 1) GROUP BY thread)
SELECT s.id, p.session, p.id AS process_id, p.pid, t.tid, s.idx, s.name, s.ts AS start, s.ts + s.dur AS "end", s.dur AS duration, s.complete, u.median AS median_ns,
       round(1.0 * s.dur / nullif(u.median, 0), 3) AS vs_median, s.complete AND u.n >= 3 AND s.dur > 1.5 * u.median AS slow,
       s.calls, s.errors, s.launches, s.copies, s.copied AS copied_bytes, s.growth AS growth_bytes, iif(s.in_calls < s.calls * coalesce(k.call_spread + k.call_ns / 10, 0), 0, s.in_calls) AS in_calls_ns,
       iif(s.waited < s.calls * coalesce(k.call_spread + k.call_ns / 10, 0), 0, s.waited) AS waited_ns,
       s.call AS first_call_id, s.call_end AS last_call_id, s.thread AS thread_id, r.rank
FROM step_ s JOIN process_ p ON p.id = s.process JOIN thread_ t ON t.id = s.thread LEFT JOIN usual u ON u.thread = s.thread
LEFT JOIN process_ranks r ON r.process_id = p.id
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

CREATE VIEW step_calls AS
SELECT x.step AS step_id, f.name, c.category, x.n AS calls, x.errors, iif(x.self < x.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.self) AS self_ns, x.fn AS function_id
FROM step_stat_ x JOIN function_ f ON f.id = x.fn JOIN function_categories c ON c.function_id = x.fn LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump';

CREATE VIEW waits AS
SELECT p.session, p.id AS process_id, p.pid, f.name, CASE f.kind WHEN 'sync' THEN 'sync' ELSE 'copy' END AS kind, s.library AS caller_library,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       w.n AS calls, iif(w.total < w.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, w.total) AS blocked_ns, w.max AS max_ns, w.longest AS longest_call_id, w.fn AS function_id
FROM wait_ w JOIN process_ p ON p.id = w.process JOIN function_ f ON f.id = w.fn LEFT JOIN call_site_ s ON s.id = w.caller
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

-- CPU time from the last sample before to the first sample after, in proportion to the share of idle time; NULL if the
-- share is below a half.
CREATE VIEW idle_times AS
WITH around AS (
  SELECT i.process, i.ts, i.dur, i.before, i.after,
         (SELECT max(c.ts) FROM cpu_sample_ c WHERE c.process = i.process AND c.ts <= i.ts) AS sample_before,
         (SELECT min(c.ts) FROM cpu_sample_ c WHERE c.process = i.process AND c.ts >= i.ts + i.dur) AS sample_after
  FROM idle_ i)
SELECT p.session, p.id AS process_id, p.pid, a.ts AS start, a.ts + a.dur AS "end", a.dur AS duration, a.before AS before_call_id, a.after AS after_call_id,
       CASE WHEN 2 * a.dur >= a.sample_after - a.sample_before
            THEN CAST(1.0 * a.dur / (a.sample_after - a.sample_before) * ((SELECT c.cpu_ns FROM cpu_sample_ c WHERE c.process = a.process AND c.ts = a.sample_after)
                 - (SELECT c.cpu_ns FROM cpu_sample_ c WHERE c.process = a.process AND c.ts = a.sample_before)) AS INTEGER) END AS cpu_ns
FROM around a JOIN process_ p ON p.id = a.process;
-- ---------------------------------------------------------------- memory: its holders, its errors, its copies
CREATE VIEW memory_libraries AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, iif(m.memory = 0, 'device', 'host') AS memory, nullif(m.library, '') AS library, m.used AS live_at_end, m.peak, m.peak_ts AS peak_at,
       m.allocs, m.frees, m.bytes AS allocated
FROM mem_holder_ m JOIN device_ d ON d.id = m.device JOIN process_ p ON p.id = d.process WHERE m.library <> '*' AND m.allocs > 0;

CREATE VIEW memory_totals AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, iif(m.memory = 0, 'device', 'host') AS memory, m.used AS live_at_end, m.peak, m.peak_ts AS peak_at, m.allocs, m.frees, m.bytes AS allocated
FROM mem_holder_ m JOIN device_ d ON d.id = m.device JOIN process_ p ON p.id = d.process WHERE m.library = '*';

CREATE VIEW bad_frees AS
SELECT e.id, p.session, p.pid, CASE e.fault WHEN 0 THEN 'freed already' WHEN 1 THEN 'never allocated' WHEN 2 THEN 'inside an allocation' ELSE 'refused' END AS fault, f.name,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, e.addr, printf('0x%x', e.addr) AS addr_hex, e.n AS repeats, e.ts AS start, e.ts_last AS last, e.call AS call_id,
       e.alloc AS alloc_id, a.bytes AS size, e.call_free AS first_free_call_id, g.name AS first_free, c.ts + c.dur AS first_free_at
FROM memory_fault_ e JOIN process_ p ON p.id = e.process JOIN function_ f ON f.id = e.fn LEFT JOIN call_site_ s ON s.id = e.caller
LEFT JOIN alloc_ a ON a.id = e.alloc LEFT JOIN call_ c ON c.id = e.call_free LEFT JOIN function_ g ON g.id = c.fn;

CREATE VIEW ooms AS
SELECT o.id, p.session, p.pid, nullif(d.ordinal, -1) AS device, iif(o.memory = 0, 'device', 'host') AS memory, o.ts AS start, f.name, coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, o.call AS call_id, o.asked, o.used, o.free, o.total, o.told_ts AS told_at, max(o.total - o.free - o.used, 0) AS elsewhere
FROM oom_ o JOIN process_ p ON p.id = o.process JOIN device_ d ON d.id = o.device JOIN function_ f ON f.id = o.fn LEFT JOIN call_site_ s ON s.id = o.caller;

CREATE VIEW oom_holders AS
SELECT h.oom AS oom_id, p.session, k.name AS kind, f.name, coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller, s.library AS caller_library, h.n, h.bytes, h.largest
FROM oom_holder_ h JOIN oom_ o ON o.id = h.oom JOIN process_ p ON p.id = o.process JOIN memory_kind_ k ON k.id = h.kind
LEFT JOIN function_ f ON f.id = h.fn LEFT JOIN call_site_ s ON s.id = h.caller;

-- Places whose live allocations grow with the program's turns: steps, else its outermost ranges of the most frequent
-- name (without the number at its end). An allocation belongs to the turn that began last. A place grows if its
-- remaining memory was allocated in three turns or more, in the first half of the turns and in the second.
CREATE VIEW memory_growth AS
WITH base AS (SELECT r.process, r.ts, rtrim(n.name, '0123456789 #:/_.-') AS name FROM range_ r JOIN range_name_ n ON n.id = r.name
              WHERE r.form = 0 AND r.depth = 0 AND r.process NOT IN (SELECT process FROM step_)),
most AS (SELECT process, name, max(n) FROM (SELECT process, name, count(*) AS n FROM base GROUP BY process, name) GROUP BY process),
turn AS (
  SELECT process, ts, row_number() OVER (PARTITION BY process ORDER BY ts) AS idx, 'range' AS word FROM base b
  WHERE EXISTS (SELECT 1 FROM most m WHERE m.process = b.process AND m.name = b.name)
  UNION ALL SELECT process, ts, idx, 'step' FROM step_),
number AS (SELECT process, max(idx) AS turns, min(word) AS word FROM turn GROUP BY process HAVING max(idx) >= 4),
event AS (
  SELECT process, ts, idx, NULL AS id, NULL AS device, NULL AS kind, NULL AS bytes, NULL AS fn, NULL AS caller, NULL AS stack FROM turn
  WHERE process IN (SELECT process FROM number)
  UNION ALL
  SELECT d.process, a.ts, NULL, a.id, a.device, a.kind, a.bytes, a.fn, a.caller, k.stack
  FROM alloc_ a JOIN device_ d ON d.id = a.device LEFT JOIN call_stack_ k ON k.call = a.call
  WHERE a.ts_end IS NULL AND a.kind IN (SELECT id FROM memory_kind_ WHERE memory IS NOT NULL) AND d.process IN (SELECT process FROM number)),
placed AS (
  SELECT *, max(idx) OVER (PARTITION BY process ORDER BY ts, id IS NOT NULL ROWS UNBOUNDED PRECEDING) AS turn FROM event)
SELECT p.session, p.pid, d.ordinal AS device, q.name AS kind, f.name, x.caller AS caller_id, x.stack, count(*) AS n,
       sum(x.bytes) AS size_bytes, count(DISTINCT x.turn) AS turns_with, m.turns, m.word AS turn, sum(x.bytes) / m.turns AS bytes_per_turn
FROM placed x JOIN number m ON m.process = x.process JOIN process_ p ON p.id = x.process JOIN device_ d ON d.id = x.device
JOIN memory_kind_ q ON q.id = x.kind LEFT JOIN function_ f ON f.id = x.fn
WHERE x.id IS NOT NULL AND x.turn IS NOT NULL
GROUP BY x.process, x.device, x.kind, x.fn, x.caller, x.stack
HAVING count(DISTINCT x.turn) >= 3 AND 2 * min(x.turn) <= m.turns + 1 AND 2 * max(x.turn) > m.turns;

CREATE VIEW memory_told AS
SELECT p.session, p.pid, nullif(d.ordinal, -1) AS device, m.ts AS start, m.call AS call_id, m.free, m.total, m.total - m.free AS in_use, m.used AS ledger, m.total - m.free - m.used AS difference
FROM mem_told_ m JOIN device_ d ON d.id = m.device JOIN process_ p ON p.id = d.process;

-- smallest, largest: of the row's range of sizes.
CREATE VIEW copy_sizes AS
SELECT p.session, p.pid, y.process AS process_id, f.name, CASE y.kind WHEN 0 THEN 'h2h' WHEN 1 THEN 'h2d' WHEN 2 THEN 'd2h' WHEN 3 THEN 'd2d' WHEN 4 THEN 'default' WHEN -1 THEN 'set' ELSE 'other' END AS direction,
       CASE y.memory WHEN 1 THEN 'pageable' WHEN 2 THEN 'pinned' WHEN 3 THEN 'managed' END AS memory, instr(f.name, 'Async') > 0 AS async, iif(y.bucket = 0, 0, 1 << (y.bucket - 1)) AS smallest,
       iif(y.bucket = 0, 0, iif(y.bucket < 63, (1 << y.bucket) - 1, 9223372036854775807)) AS largest, y.n, y.bytes, y.max_bytes, iif(y.host_ns < y.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, y.host_ns) AS host_ns, y.bucket <= 16 AS small
FROM copy_size_ y JOIN process_ p ON p.id = y.process JOIN function_ f ON f.id = y.fn LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

CREATE VIEW copy_trips AS
SELECT p.session, p.pid, t.device_addr, printf('0x%x', t.device_addr) AS device_addr_hex, t.host_addr, printf('0x%x', t.host_addr) AS host_addr_hex, t.bytes AS size, t.trips, t.launches,
       iif(t.host_ns < 2 * t.trips * coalesce(k.call_spread + k.call_ns / 10, 0), 0, t.host_ns) AS host_ns, t.ts AS first, t.ts_last AS last, t.call AS call_id
FROM copy_trip_ t JOIN process_ p ON p.id = t.process LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

-- ---------------------------------------------------------------- graphs, and facts about the code of kernels
CREATE VIEW graphs AS
SELECT g.id, p.session, p.pid, g.handle, printf('0x%x', g.handle) AS handle_hex, g.ts AS start, g.kernels, g.complete, g.launches, g.errors, iif(g.launch_ns < g.launches * coalesce(k.call_spread + k.call_ns / 10, 0), 0, g.launch_ns) AS launch_total_ns, g.max_ns AS launch_max_ns,
       g.first_ts AS first, g.last_ts AS last
FROM graph_ g JOIN process_ p ON p.id = g.process LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

CREATE VIEW graph_kernels AS
SELECT x.graph AS graph_id, p.session, p.pid, x.kernel AS kernel_id, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library,
       y.gx AS grid_x, y.gy AS grid_y, y.gz AS grid_z, y.bx AS block_x, y.by AS block_y, y.bz AS block_z, y.shared AS shared_bytes, x.n, x.n * (g.launches - g.errors) AS runs
FROM graph_kernel_ x JOIN graph_ g ON g.id = x.graph JOIN process_ p ON p.id = g.process JOIN kernel_ k ON k.id = x.kernel JOIN geometry_ y ON y.id = x.geometry;

CREATE VIEW graph_launches AS
SELECT x.call AS id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, x.graph AS graph_id, g.kernels, g.complete, st.id AS stream_id, st.handle AS stream,
       iif(st.handle IS NULL, NULL, printf('0x%x', st.handle)) AS stream_hex, nullif(d.ordinal, -1) AS device, f.name AS function, CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(c.result, 0) END AS result, c.caller AS caller_id
FROM graph_launch_ x CROSS JOIN call_ c ON c.id = x.call JOIN graph_ g ON g.id = x.graph JOIN thread_ t ON t.id = c.thread JOIN process_ p ON p.id = t.process JOIN function_ f ON f.id = c.fn
LEFT JOIN stream_ st ON st.id = x.stream LEFT JOIN device_ d ON d.id = st.device;

-- Like kernel_stats, including kernels that launches of graphs ran; their time is the graph's, not the kernels'. A
-- graph without a known kernel has one row for all its launches, so that the sum of launches equals the sum in
-- process_use.
CREATE VIEW kernel_runs AS
WITH run AS (
  SELECT k.session, x.kernel, x.geometry, x.n AS calls, x.n - x.errors AS direct, x.errors, 0 AS in_graphs, x.launch_ns, x.max_ns, x.first_ts, x.last_ts
  FROM kernel_stat_ x JOIN kernel_ k ON k.id = x.kernel
  UNION ALL
  SELECT k.session, x.kernel, x.geometry, 0, 0, 0, x.n * (g.launches - g.errors), 0, NULL, g.first_ts, g.last_ts
  FROM graph_kernel_ x JOIN graph_ g ON g.id = x.graph JOIN kernel_ k ON k.id = x.kernel WHERE g.launches > g.errors
  UNION ALL
  SELECT p.session, NULL, NULL, 0, 0, 0, g.launches - g.errors, 0, NULL, g.first_ts, g.last_ts
  FROM graph_ g JOIN process_ p ON p.id = g.process WHERE g.launches > g.errors AND g.kernels = 0 AND NOT g.complete)
SELECT r.kernel AS kernel_id, r.session, coalesce(k.demangled, k.name, '(kernels of a graph that was made before the recording)') AS name, k.name AS mangled, k.library,
       g.gx AS grid_x, g.gy AS grid_y, g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes,
       sum(r.direct) + sum(r.in_graphs) AS launches, sum(r.errors) AS errors, sum(r.in_graphs) AS in_graphs, iif(sum(r.launch_ns) < sum(r.calls) * coalesce(kc.call_spread + kc.call_ns / 10, 0), 0, sum(r.launch_ns)) AS launch_total_ns,
       iif(sum(r.launch_ns) < sum(r.calls) * coalesce(kc.call_spread + kc.call_ns / 10, 0), 0, sum(r.launch_ns)) / nullif(sum(r.calls), 0) AS launch_avg_ns, max(r.max_ns) AS launch_max_ns, min(r.first_ts) AS first, max(r.last_ts) AS last
FROM run r LEFT JOIN kernel_ k ON k.id = r.kernel LEFT JOIN geometry_ g ON g.id = r.geometry LEFT JOIN call_cost_ kc ON kc.session = r.session AND kc.form = 'jump'
GROUP BY r.session, r.kernel, r.geometry;

-- The streams that each kernel was launched into; graphs are not counted.
CREATE VIEW kernel_streams AS
SELECT l.kernel AS kernel_id, p.session, p.pid, l.stream AS stream_id, s.handle AS stream, nullif(d.ordinal, -1) AS device
FROM launch_ l JOIN stream_ s ON s.id = l.stream JOIN process_ p ON p.id = s.process LEFT JOIN device_ d ON d.id = s.device WHERE NOT l.captured GROUP BY l.kernel, l.stream;

-- used: 0 if no device of the recording has that architecture, NULL if unknown.
CREATE VIEW kernel_codes AS
SELECT c.kernel AS kernel_id, k.session, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library, c.arch,
       CASE WHEN c.arch IS NULL OR NOT EXISTS (SELECT 1 FROM device_ d WHERE d.arch IS NOT NULL) THEN NULL
            ELSE EXISTS (SELECT 1 FROM device_ d WHERE d.arch = c.arch OR d.arch GLOB c.arch || ':*') END AS used,
       CASE c.wgp_mode WHEN 1 THEN 'WGP' WHEN 0 THEN 'CU' END AS mode, c.vgprs, c.agprs, c.sgprs, c.vgpr_spills, c.sgpr_spills, c.lds, c.scratch, c.kernarg, c.wave_size, c.max_threads,
       c.dynamic_stack, c.problem
FROM kernel_code_ c JOIN kernel_ k ON k.id = c.kernel;

-- ---------------------------------------------------------------- how processes died or hung
CREATE VIEW postmortem_threads AS
SELECT m.id AS postmortem_id, m.session, p.pid, x.thread AS thread_id, t.tid, t.name, coalesce(x.thread = m.thread, 0) AS cause, x.ts AS start,
       c.call AS call_id, f.name AS call, c.args, c.ts AS call_start, x.ts - c.ts AS age_ns, s.library AS caller_library, coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       (SELECT group_concat(name, ' > ') FROM (SELECT g.name FROM postmortem_call_ o JOIN function_ g ON g.id = o.fn WHERE o.postmortem = m.id AND o.thread = x.thread ORDER BY o.call)) AS calls,
       x.doing, o.path AS library, x.symbol, x.offset, iif(x.offset IS NULL, NULL, printf('0x%x', x.offset)) AS offset_hex, x.address, iif(x.address IS NULL, NULL, printf('0x%x', x.address)) AS address_hex,
       replace(o.path, rtrim(o.path, replace(o.path, '/', '')), '') || ': ' || coalesce(x.symbol, (SELECT i.name FROM stack_ k JOIN frame_ i ON i.id = k.frame WHERE k.id = x.stack AND i.kind = 0 AND i.module = x.module AND i.offset = x.offset), '+' || iif(x.offset IS NULL, NULL, printf('0x%x', x.offset))) AS place,
       x.earlier, x.stack, l.call AS last_call_id, lf.name AS last_call, l.ts + l.dur AS last_call_end
FROM postmortem_thread_ x JOIN postmortem_ m ON m.id = x.postmortem JOIN process_ p ON p.id = m.process JOIN thread_ t ON t.id = x.thread
LEFT JOIN postmortem_call_ c ON c.postmortem = m.id AND c.call = (SELECT max(call) FROM postmortem_call_ i WHERE i.postmortem = m.id AND i.thread = x.thread)
LEFT JOIN function_ f ON f.id = c.fn LEFT JOIN call_site_ s ON s.id = c.caller LEFT JOIN module_ o ON o.id = x.module
LEFT JOIN postmortem_last_ l ON l.postmortem = m.id AND l.call = (SELECT max(call) FROM postmortem_last_ i WHERE i.postmortem = m.id AND i.thread = x.thread)
LEFT JOIN function_ lf ON lf.id = l.fn;

CREATE VIEW postmortem_calls AS
SELECT c.postmortem AS postmortem_id, m.session, p.pid, t.tid, c.thread AS thread_id, c.call AS call_id, f.name, 'running' AS state, c.ts AS start, x.ts - c.ts AS duration, NULL AS result, NULL AS result_name, c.args,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller
FROM postmortem_call_ c JOIN postmortem_ m ON m.id = c.postmortem JOIN process_ p ON p.id = m.process JOIN thread_ t ON t.id = c.thread JOIN function_ f ON f.id = c.fn
JOIN postmortem_thread_ x ON x.postmortem = c.postmortem AND x.thread = c.thread LEFT JOIN call_site_ s ON s.id = c.caller
UNION ALL
SELECT l.postmortem, m.session, p.pid, t.tid, l.thread, l.call, f.name, iif(l.returned, 'returned', 'unwound'), l.ts, l.dur, iif(l.returned AND f.result_type <> 'void', l.result, NULL), iif(l.returned, r.name, NULL), a.args,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)), iif(s.address IS NULL, NULL, printf('0x%x', s.address)))
FROM postmortem_last_ l JOIN postmortem_ m ON m.id = l.postmortem JOIN process_ p ON p.id = m.process JOIN thread_ t ON t.id = l.thread JOIN function_ f ON f.id = l.fn
LEFT JOIN result_name_ r ON r.fn = l.fn AND r.code = l.result LEFT JOIN arg_ a ON a.call = l.call LEFT JOIN call_ c ON c.id = l.call LEFT JOIN call_site_ s ON s.id = c.caller;

CREATE VIEW postmortem_memory AS
SELECT x.postmortem AS postmortem_id, m.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind, CASE k.memory WHEN 0 THEN 'device' WHEN 1 THEN 'host' END AS memory, x.used, x.peak
FROM postmortem_memory_ x JOIN postmortem_ m ON m.id = x.postmortem JOIN process_ p ON p.id = m.process JOIN device_ d ON d.id = x.device JOIN memory_kind_ k ON k.id = x.kind;

CREATE VIEW postmortems AS
WITH m AS (
  SELECT y.*, p.pid, p.command, t.tid, t.name AS thread_name, coalesce(n.name, 'signal ' || y.signal) AS signal_name, k.name AS code_name,
         -- A code of 0 or less: a process sent the signal, and what the signal means as a fault did not happen.
         CASE WHEN y.cause = 'stack' THEN 'the stack of a thread overflowed' WHEN y.signal IN (4, 5, 7, 8, 11) AND y.code <= 0 THEN NULL
              ELSE coalesce(k.meaning, n.meaning) END AS meaning,
         y.signal IN (4, 5, 6, 7, 8, 11) AND y.code <= 0 AND coalesce(y.cause, '') <> 'self' AS was_sent,
         (SELECT count(*) FROM postmortem_call_ c WHERE c.postmortem = y.id) AS calls_running,
         (SELECT count(*) FROM postmortem_thread_ x WHERE x.postmortem = y.id) AS threads,
         (SELECT f.name FROM postmortem_call_ c JOIN function_ f ON f.id = c.fn WHERE c.postmortem = y.id AND c.thread = y.thread ORDER BY c.call DESC LIMIT 1) AS call,
         (SELECT sum(used) FROM postmortem_memory_ h JOIN memory_kind_ q ON q.id = h.kind WHERE h.postmortem = y.id AND q.memory = 0) AS device_bytes,
         (SELECT sum(used) FROM postmortem_memory_ h JOIN memory_kind_ q ON q.id = h.kind WHERE h.postmortem = y.id AND q.memory = 1) AS host_bytes,
         EXISTS (SELECT 1 FROM failures e WHERE e.session = y.session AND e.pid = p.pid AND NOT e.normal) AS had_failures
  FROM postmortem_ y JOIN process_ p ON p.id = y.process LEFT JOIN thread_ t ON t.id = y.thread LEFT JOIN signal_name_ n ON n.signal = y.signal LEFT JOIN signal_code_ k ON k.signal = y.signal AND k.code = y.code)
SELECT id, session, process AS process_id, pid, command, ts AS start, kind,
       CASE kind WHEN 'exit' THEN 'ended with exit status ' || exit_code || ' while ' || calls_running || iif(calls_running = 1, ' call was', ' calls were') || ' running'
                 WHEN 'hang' THEN 'appears to hang: ' || calls_running || iif(calls_running = 1, ' call was', ' calls were') || ' running, and no other call finished for ' || printf('%.1f', quiet / 1e9) || ' s'
                 WHEN 'snapshot' THEN 'running: this is a snapshot'
                 ELSE CASE WHEN cause = 'oom' THEN 'killed by the kernel''s out-of-memory killer (SIGKILL)'
                           WHEN cause = 'oom?' THEN 'killed by SIGKILL, probably from the kernel''s out-of-memory killer'
                           WHEN signal = 9 THEN iif(cause = 'self', 'killed itself with SIGKILL', 'killed by SIGKILL from outside (sender unknown)')
                           WHEN was_sent AND sender IS NOT NULL
                             THEN 'died of a signal: process ' || sender || coalesce(' (' || sender_name || ')', '') || ' of user ' || sender_uid || ' sent ' || signal_name
                           WHEN was_sent THEN 'died of a signal: a process sent ' || signal_name
                           ELSE 'died of ' || signal_name || coalesce(': ' || meaning, '')
                                || CASE WHEN cause = 'self' THEN iif(signal = 6, '', ', sent by the program itself')
                                        WHEN sender IS NOT NULL THEN ', sent by process ' || sender || coalesce(' (' || sender_name || ')', '') || ' of user ' || sender_uid ELSE '' END END END AS what,
       signal, iif(signal IS NULL, NULL, signal_name) AS signal_name, code, code_name, address, iif(address IS NULL, NULL, printf('0x%x', address)) AS address_hex, sender AS sender_pid, sender_uid, sender_name, exit_code, quiet AS quiet_ns, cause, evidence,
       thread AS thread_id, tid, thread_name, call, calls_running, threads, device_bytes, host_bytes,
       CASE WHEN kind = 'hang' THEN 'Work on the GPU that takes long looks the same: then use a longer --hang-timeout. If it never ends, see what the threads below wait for. dmesg reports a GPU reset. With AMD_SERIALIZE_KERNEL=3 the launch that does not end is the call that waits.'
            WHEN kind = 'exit' THEN 'Work that is unfinished when the program ends is lost: join the threads, or wait with hipDeviceSynchronize, before the program ends.'
            WHEN kind = 'snapshot' THEN NULL
            WHEN cause IN ('oom', 'oom?') THEN 'The machine or the container ran out of main memory, not of the GPU''s: fewer or smaller data loading workers, less pinned memory, or a higher limit. dmesg shows what was killed and why.'
            WHEN cause = 'stack' THEN 'A recursion that does not end, or large arrays on the stack: if a larger stack (ulimit -s, or pthread_attr_setstacksize) helps, it is the arrays.'
            WHEN signal = 9 AND cause IS NULL THEN 'The kernel does not report the sender of a SIGKILL. Ask the scheduler or container engine for its limits of time and memory (sacct, docker inspect, kubectl describe pod), and dmesg for "Killed process".'
            WHEN was_sent THEN 'The program itself is not at fault: check why that process sent the signal.'
            WHEN signal = 6 THEN iif(had_failures, 'Calls had failed before: fade-query first-error. ', '') || 'The program or a library gave up by itself (an assertion, an uncaught C++ exception, the HIP runtime): the last lines on standard error say why.'
            WHEN signal IN (7, 11) AND call IS NOT NULL THEN 'It happened inside ' || call || ': compare the pointers and sizes in its arguments with fade-query allocs. Usual causes are device memory used as host memory, freed memory, and sizes that are too large.'
            WHEN signal IN (7, 11) THEN 'The thread was in no recorded call: see the place in the code below. ulimit -c unlimited and gdb PROGRAM CORE show its variables.'
            WHEN signal = 4 THEN 'The code was built for another processor, or it is code that must not be reached (__builtin_trap).'
            WHEN signal IN (1, 2, 15) THEN 'Another process asked it to end: this is not a crash.' END AS advice
FROM m;

-- ---------------------------------------------------------------- stacks
-- label: the text for a frame, in this order of preference: function, file and offset, address; in brackets the reason
-- for missing frames. system: code around every program's own code: the C and C++ libraries, the loader, and between
-- Python and C the interpreter, ctypes and libffi.
CREATE VIEW frames AS
SELECT f.id, p.session, p.pid, CASE f.kind WHEN 0 THEN 'native' WHEN 1 THEN 'python' WHEN 3 THEN 'libunwind' ELSE 'gap' END AS kind, m.path AS library, f.name AS function, f.file, f.line,
       f.offset, iif(f.offset IS NULL, NULL, printf('0x%x', f.offset)) AS offset_hex, f.address, printf('0x%x', f.address) AS address_hex,
       CASE WHEN f.kind = 2 THEN '[' || coalesce(f.name, 'frames are missing') || ']' WHEN f.name IS NOT NULL THEN f.name
            WHEN m.path IS NOT NULL THEN replace(m.path, rtrim(m.path, replace(m.path, '/', '')), '') || printf('+0x%x', f.offset) ELSE printf('0x%x', f.address) END AS label,
       -- the file's name up to the first dot, without a version
       f.kind IN (0, 3) AND (f.name IS '_start' OR (m.path IS NOT NULL AND rtrim(substr(replace(m.path, rtrim(m.path, replace(m.path, '/', '')), ''), 1, instr(replace(m.path, rtrim(m.path, replace(m.path, '/', '')), '') || '.', '.') - 1), '0123456789-')
            IN ('python', 'libpython', '_ctypes', 'libffi', 'libc', 'libpthread', 'ld', 'ld-linux-x', 'libstdc++', 'libgcc_s'))) AS system
FROM frame_ f JOIN process_ p ON p.id = f.process LEFT JOIN module_ m ON m.id = f.module;

CREATE VIEW inlined_functions AS SELECT frame, depth, name AS function, file, line FROM inline_;

CREATE VIEW stack_tree AS SELECT id AS stack, parent, frame FROM stack_;

CREATE VIEW stack_calls AS SELECT stack, call AS call_id FROM call_stack_;

-- From one stack outwards (not a join with a recursion over all stacks), so that a condition on the stack costs no more than that stack.
CREATE VIEW stack_frames AS
SELECT s.id AS stack, f.session, f.pid, j.key AS depth, f.kind, i.frame IS NOT NULL AS inlined, CASE WHEN i.frame IS NULL THEN f.label ELSE coalesce(i.name, '?') END AS label,
       f.library, iif(i.frame IS NULL, f.function, i.name) AS function, iif(i.frame IS NULL, f.file, i.file) AS file, iif(i.frame IS NULL, f.line, i.line) AS line, f.offset, f.offset_hex, f.id AS frame
FROM stack_ s JOIN json_each((
  WITH RECURSIVE up(parent, frame, n) AS (
    SELECT s.parent, s.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_ x ON x.id = up.parent WHERE n < 10000)
  SELECT '[' || group_concat(place) || ']' FROM (
    SELECT up.frame * 256 + i.depth AS place, n, i.depth AS d FROM up JOIN inline_ i ON i.frame = up.frame WHERE i.depth < 255 UNION ALL SELECT up.frame * 256 + 255, n, 255 FROM up ORDER BY 2, 3))) j
JOIN frames f ON f.id = j.value / 256 LEFT JOIN inline_ i ON i.frame = f.id AND i.depth = j.value % 256;

-- The three innermost frames of the program's own code (of any code, if it has none), and the innermost line of Python.
-- Each walk has one way to go, so it keeps its order, and it ends when it has found enough.
CREATE VIEW stack_tops AS
SELECT s.id AS stack,
       coalesce(
         (WITH RECURSIVE up(parent, frame, n) AS (SELECT s.parent, s.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_ x ON x.id = up.parent WHERE n < 1000)
          SELECT group_concat(label, ' < ') FROM (SELECT f.label FROM up CROSS JOIN frames f ON f.id = up.frame WHERE NOT f.system LIMIT 3)),
         (WITH RECURSIVE up(parent, frame, n) AS (SELECT s.parent, s.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_ x ON x.id = up.parent WHERE n < 2)
          SELECT group_concat(label, ' < ') FROM (SELECT f.label FROM up JOIN frames f ON f.id = up.frame ORDER BY n))) AS frames,
       (WITH RECURSIVE up(parent, frame, n) AS (SELECT s.parent, s.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_ x ON x.id = up.parent WHERE n < 1000)
        SELECT p.place || ':' || coalesce(p.line, '?') || ' ' || coalesce(p.function, '')
        FROM up CROSS JOIN frame_places p ON p.frame = up.frame WHERE p.python LIMIT 1) AS python
FROM stack_ s;

-- The line of a frame in reports. place: relative to the folder of the session if below it, in packages from the
-- package on, else the file's name, with its folder for __init__.py or __main__.py. wrapper: frames of a package, the
-- standard library or the interpreter itself, or a starter in a bin folder; fade-query inserts --skip-frames at the
-- comment.
CREATE VIEW frame_places AS
SELECT f.id AS frame, f.kind = 1 AS python, f.name AS function, f.file, f.line,
       CASE WHEN f.file GLOB '*/site-packages/*' THEN substr(f.file, instr(f.file, '/site-packages/') + 15)
            WHEN f.file GLOB '*/dist-packages/*' THEN substr(f.file, instr(f.file, '/dist-packages/') + 15)
            WHEN f.file GLOB '*/lib/python[0-9]*/*' THEN substr(f.file, instr(f.file, '/lib/python') + 5)
            WHEN f.file GLOB '*/lib64/python[0-9]*/*' THEN substr(f.file, instr(f.file, '/lib64/python') + 7)
            WHEN substr(f.file, 1, length(s.cwd) + 1) = s.cwd || '/' THEN substr(f.file, length(s.cwd) + 2)
            WHEN f.file GLOB '*/*/__init__.py' OR f.file GLOB '*/*/__main__.py'
              THEN substr(f.file, 1 + length(rtrim(rtrim(rtrim(f.file, replace(f.file, '/', '')), '/'), replace(f.file, '/', ''))))
            ELSE substr(f.file, 1 + length(rtrim(f.file, replace(f.file, '/', '')))) END AS place,
       f.file GLOB '*/site-packages/*' OR f.file GLOB '*/dist-packages/*' OR f.file GLOB '*/lib/python[0-9]*/*'
         OR f.file GLOB '*/lib64/python[0-9]*/*' OR f.file GLOB '*/python[0-9]*.zip/*' OR f.file GLOB '<frozen *'
         OR f.file GLOB '<eval_with_key>*' OR f.file GLOB '<__array_function__*' OR (f.file GLOB '*/bin/*' AND f.file NOT GLOB '*.py')
         /*skip-frames*/ AS wrapper
FROM frame_ f JOIN process_ p ON p.id = f.process JOIN session_ s ON s.id = p.session;

-- The most informative frame of each stack: the innermost of Python that is not a wrapper, else the innermost of
-- Python, else the innermost of the program's own code whose file is known. Each walk goes outwards one way and ends at
-- the first match.
CREATE VIEW user_frames AS
SELECT s.id AS stack, coalesce(
  (WITH RECURSIVE up(parent, frame, n) AS (
     SELECT s.parent, s.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_ x ON x.id = up.parent WHERE n < 1000)
   SELECT p.frame FROM up CROSS JOIN frame_places p ON p.frame = up.frame WHERE p.python AND NOT coalesce(p.wrapper, 0) LIMIT 1),
  (WITH RECURSIVE up(parent, frame, n) AS (
     SELECT s.parent, s.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_ x ON x.id = up.parent WHERE n < 1000)
   SELECT f.id FROM up CROSS JOIN frame_ f ON f.id = up.frame WHERE f.kind = 1 LIMIT 1),
  (WITH RECURSIVE up(parent, frame, n) AS (
     SELECT s.parent, s.frame, 0 UNION ALL SELECT x.parent, x.frame, n + 1 FROM up JOIN stack_ x ON x.id = up.parent WHERE n < 1000)
   SELECT f.id FROM up CROSS JOIN frames f ON f.id = up.frame WHERE NOT f.system AND f.file IS NOT NULL LIMIT 1)) AS frame
FROM stack_ s;

CREATE VIEW user_lines AS
SELECT u.stack,
       (SELECT p.place || ':' || coalesce(p.line, '?') || coalesce(' ' || p.function, '') FROM frame_places p WHERE p.frame = u.frame) AS user_line,
       (SELECT p.file || ':' || coalesce(p.line, '?') FROM frame_places p WHERE p.frame = u.frame) AS file_line,
       (SELECT p.function FROM frame_places p WHERE p.frame = u.frame) AS function
FROM user_frames u;

CREATE VIEW stack_stats AS
SELECT x.stack, f.session, x.fn AS function_id, f.api AS category, f.name, x.n AS calls, x.errors, iif(x.total < x.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.total) AS total_ns,
       iif(x.self < x.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.self) AS self_ns, x.bytes, x.first_call AS first_call_id
FROM stack_stat_ x JOIN function_ f ON f.id = x.fn LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump';

-- The stacks of calls.
CREATE VIEW stacks AS
SELECT x.stack, x.session, p.pid, x.calls, x.errors, x.total_ns, x.self_ns, x.bytes, x.functions, t.frames, t.python
FROM (SELECT stack, min(session) AS session, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns, sum(self_ns) AS self_ns, sum(bytes) AS bytes,
             group_concat(name, ', ') AS functions FROM stack_stats GROUP BY stack) x
JOIN stack_ s ON s.id = x.stack JOIN frame_ f ON f.id = s.frame JOIN process_ p ON p.id = f.process JOIN stack_tops t ON t.stack = x.stack;

CREATE VIEW caller_stats AS
SELECT p.session, p.pid, x.process AS process_id, nullif(x.library, '') AS library, f.api AS category, f.name, x.fn AS function_id, x.n AS calls, x.errors,
       iif(x.total < x.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.total) AS total_ns, iif(x.self < x.n * coalesce(k.call_spread + k.call_ns / 10, 0), 0, x.self) AS self_ns
FROM caller_stat_ x JOIN process_ p ON p.id = x.process JOIN function_ f ON f.id = x.fn
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';
