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

-- ---------------------------------------------------------------- devices: what was told, what the driver says, what the reference table says
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

-- Which product a node is: several share a device id.
CREATE VIEW node_gpus AS
SELECT node_id, session, gpu_id, matched_by FROM (
  SELECT k.id AS node_id, k.session, g.id AS gpu_id, iif(coalesce(p.revision = k.revision, p.revision IS NULL), 'device id and revision', 'device id and compute units') AS matched_by,
         row_number() OVER (PARTITION BY k.id ORDER BY coalesce(p.revision = k.revision, p.revision IS NULL) DESC, g.compute_units = k.compute_units DESC, g.id) AS place
  FROM kfd_node_ k JOIN gpu_pci_ p ON p.device_id = k.device_id JOIN gpu_ g ON g.id = p.gpu
  WHERE k.gpu AND k.vendor_id = 4098 AND (coalesce(p.revision = k.revision, p.revision IS NULL) OR g.compute_units = k.compute_units))
WHERE place = 1;

-- Never by number: by the PCI address, or by the board's unique id. Where several nodes share a slot (partitions), an address without
-- a function says too little.
CREATE VIEW device_nodes AS
SELECT device_id, node_id, matched_by FROM (
  SELECT c.device_id, c.node_id, CASE WHEN same_uuid AND same_slot THEN 'PCI address and unique id' WHEN same_slot THEN 'PCI address' WHEN same_uuid THEN 'unique id' ELSE 'only GPU' END AS matched_by,
         row_number() OVER (PARTITION BY c.device_id ORDER BY same_uuid AND same_slot DESC, same_slot AND exact DESC, same_uuid DESC, c.node_id) AS place
  FROM (SELECT d.id AS device_id, k.id AS node_id, d.pci IS NULL AND d.uuid IS NULL AS unknown, coalesce(lower(d.pci) = k.pci, 0) AS exact,
               coalesce(substr(lower(d.pci), 1, instr(d.pci, '.')) = substr(k.pci, 1, instr(k.pci, '.')), 0) AS same_slot,
               coalesce(lower(d.uuid) IN (lower(k.uuid), lower(hex(substr(k.uuid, 5)))), 0) AS same_uuid,
               EXISTS (SELECT 1 FROM device_prop_ x WHERE x.device = d.id AND x.name = 'pciBusId') AS has_function,
               (SELECT count(*) FROM kfd_node_ o WHERE o.session = k.session AND o.gpu AND substr(o.pci, 1, instr(o.pci, '.')) = substr(k.pci, 1, instr(k.pci, '.'))) AS in_slot,
               (SELECT count(*) FROM kfd_node_ o WHERE o.session = k.session AND o.gpu) AS gpus, d.ordinal
        FROM device_ d JOIN process_ p ON p.id = d.process JOIN kfd_node_ k ON k.session = p.session AND k.gpu
        WHERE d.ordinal >= 0) c
  WHERE same_uuid OR (same_slot AND (in_slot = 1 OR (exact AND has_function))) OR (unknown AND gpus = 1 AND ordinal = 0))
WHERE place = 1;

-- Which GPUs the variables leave to each process that loaded HIP, in the order in which they are looked at. A list ends at the first entry that names nothing.
-- No json_extract() or json_valid(): SQLite 3.38 to 3.40 refuse them in views where the schema is not trusted, as in fade-query.
CREATE VIEW visible_gpus AS
WITH RECURSIVE env AS (
  SELECT p.id AS process_id, p.session, p.pid, (SELECT value FROM json_each(p.env) WHERE key = 'ROCR_VISIBLE_DEVICES') AS rocr,
         nullif((SELECT value FROM json_each(p.env) WHERE key = 'HIP_VISIBLE_DEVICES'), '') AS hip, nullif((SELECT value FROM json_each(p.env) WHERE key = 'CUDA_VISIBLE_DEVICES'), '') AS cuda
  FROM process_ p WHERE p.id IN (SELECT process FROM module_ WHERE role = 'hip')),
gpu AS (SELECT id, session, node, lower(uuid) AS uuid, row_number() OVER (PARTITION BY session ORDER BY node) - 1 AS place FROM kfd_node_ WHERE gpu),
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

-- One row for each device of each process, everything that is known about it side by side. told_...: as the runtime answered; received_...: after an override.
CREATE VIEW device_truth AS
WITH told AS (
  SELECT device, source = 'override' AS changed,
         max(CASE WHEN name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount') THEN CAST(value AS INTEGER) END) AS multiprocessors,
         min(CASE WHEN name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount') THEN CAST(value AS INTEGER) END) AS least_multiprocessors,
         max(CASE WHEN name IN ('warpSize', 'hipDeviceAttributeWarpSize') THEN CAST(value AS INTEGER) END) AS warp_size,
         min(CASE WHEN name IN ('warpSize', 'hipDeviceAttributeWarpSize') THEN CAST(value AS INTEGER) END) AS least_warp_size,
         max(CASE WHEN name = 'totalGlobalMem' THEN CAST(value AS INTEGER) END) AS memory,
         min(CASE WHEN name = 'totalGlobalMem' THEN CAST(value AS INTEGER) END) AS least_memory,
         max(CASE WHEN name IN ('clockRate', 'hipDeviceAttributeClockRate') THEN CAST(value AS INTEGER) / 1000 END) AS clock_mhz,
         max(CASE WHEN name IN ('integrated', 'hipDeviceAttributeIntegrated') THEN CAST(value AS INTEGER) END) AS integrated
  FROM device_prop_
  WHERE name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount', 'warpSize', 'hipDeviceAttributeWarpSize', 'totalGlobalMem', 'clockRate', 'hipDeviceAttributeClockRate', 'integrated',
                 'hipDeviceAttributeIntegrated') AND (source LIKE 'api:hip%' OR source = 'override') GROUP BY device, changed),
env AS (
  SELECT id AS process, (SELECT value FROM json_each(env) WHERE key = 'GPU_ENABLE_WGP_MODE') AS wgp_mode, (SELECT value FROM json_each(env) WHERE key = 'ROC_GLOBAL_CU_MASK') AS global_mask,
         (SELECT value FROM json_each(env) WHERE key = 'HSA_CU_MASK') AS hsa_mask, (SELECT group_concat(key || '=' || value, ' ') FROM json_each(env) WHERE key GLOB 'HSA_OVERRIDE_GFX_VERSION*') AS gfx_version
  FROM process_)
SELECT p.session, p.id AS process_id, p.pid, d.id AS device_id, d.ordinal AS device, d.name, d.arch, d.pci, coalesce(k.arch, g.arch, d.arch) GLOB 'gfx1[0-9][0-9][0-9a-f]*' AS has_wgps,
       t.multiprocessors AS told_multiprocessors, t.least_multiprocessors AS told_least_multiprocessors, t.warp_size AS told_warp_size, t.least_warp_size AS told_least_warp_size,
       t.memory AS told_memory, t.least_memory AS told_least_memory, t.clock_mhz AS told_clock_mhz, t.integrated AS told_integrated,
       o.multiprocessors AS received_multiprocessors, o.warp_size AS received_warp_size, o.memory AS received_memory,
       m.node_id, m.matched_by, k.node, k.compute_units AS driver_compute_units, k.arch AS driver_arch, k.wave_size AS driver_wave_size, k.memory AS driver_memory,
       k.max_mhz AS driver_mhz, k.cpu_cores AS driver_cpu_cores, k.device_id AS driver_device_id, k.revision AS driver_revision, k.problem AS driver_problem,
       g.id AS reference_id, g.name AS reference_name, coalesce(ng.matched_by, iif(g.id IS NULL, NULL, 'name')) AS reference_by, g.compute_units AS reference_compute_units, g.memory_mib * 1048576 AS reference_memory,
       g.shared_memory AS reference_shared_memory, g.wave_size AS reference_wave_size, g.boost_mhz AS reference_boost_mhz,
       coalesce(k.compute_units, g.compute_units) AS compute_units,
       e.wgp_mode AS gpu_enable_wgp_mode, e.global_mask AS roc_global_cu_mask, e.hsa_mask AS hsa_cu_mask, e.gfx_version AS hsa_override_gfx_version
FROM device_ d JOIN process_ p ON p.id = d.process JOIN env e ON e.process = p.id
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
answer AS (SELECT x.device, f.fact, substr(x.source, 1, 6) AS api, substr(x.source, 5) AS symbol, iif(f.divisor = 0, x.value, CAST(x.value AS INTEGER) / f.divisor) AS value FROM device_prop_ x JOIN property f ON f.name = x.name),
told AS (
  SELECT device, fact, group_concat(DISTINCT iif(api = 'api:hi', value, NULL)) AS told, group_concat(DISTINCT iif(api = 'api:cu', value, NULL)) AS told_by_zluda,
         group_concat(DISTINCT iif(api = 'overri', value, NULL)) AS received, group_concat(DISTINCT iif(api = 'overri', NULL, symbol)) AS told_by
  FROM answer GROUP BY device, fact)
SELECT t.session, t.pid, t.device_id, t.device, f.place, f.fact, f.unit, f.properties, a.told,
       CASE WHEN f.fact <> 'multiprocessors' THEN NULL WHEN a.told = t.compute_units THEN 'CU' WHEN t.has_wgps AND a.told * 2 = t.compute_units THEN 'WGP' END AS counts,
       a.told_by_zluda, a.received, a.told_by,
       CASE f.place WHEN 1 THEN k.name WHEN 2 THEN t.driver_arch WHEN 3 THEN t.driver_compute_units WHEN 4 THEN t.driver_wave_size WHEN 5 THEN t.driver_memory WHEN 6 THEN t.driver_mhz
                    WHEN 7 THEN k.memory_mhz WHEN 8 THEN k.memory_bits END AS driver,
       CASE f.place WHEN 1 THEN t.reference_name WHEN 2 THEN g.arch WHEN 3 THEN t.reference_compute_units WHEN 4 THEN t.reference_wave_size WHEN 5 THEN t.reference_memory
                    WHEN 6 THEN t.reference_boost_mhz WHEN 8 THEN g.memory_bits WHEN 9 THEN g.l2_kib * 1024 END AS reference
FROM device_truth t JOIN (SELECT place, fact, unit, group_concat(name) AS properties FROM property GROUP BY place) f LEFT JOIN told a ON a.device = t.device_id AND a.fact = f.fact
LEFT JOIN kfd_node_ k ON k.id = t.node_id LEFT JOIN gpu_ g ON g.id = t.reference_id;
