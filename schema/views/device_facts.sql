-- Everything known about each device, side by side.

-- One row for each device of each process, with all known facts side by side. told_...: the runtime's answer;
-- received_...: after an override.
CREATE VIEW device_truth AS
WITH told AS (
  SELECT device, source LIKE 'override:%' AS changed,
         max(CASE
               WHEN name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount',
                             'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT')
                 THEN CAST(value AS INTEGER) END) AS multiprocessors,
         min(CASE
               WHEN name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount',
                             'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT')
                 THEN CAST(value AS INTEGER) END) AS least_multiprocessors,
         max(CASE WHEN name IN ('warpSize', 'hipDeviceAttributeWarpSize') THEN CAST(value AS INTEGER) END) AS warp_size,
         min(CASE
               WHEN name IN ('warpSize', 'hipDeviceAttributeWarpSize')
                 THEN CAST(value AS INTEGER) END) AS least_warp_size,
         max(CASE WHEN name = 'totalGlobalMem' THEN CAST(value AS INTEGER) END) AS memory,
         min(CASE WHEN name = 'totalGlobalMem' THEN CAST(value AS INTEGER) END) AS least_memory,
         max(CASE
               WHEN name IN ('clockRate', 'hipDeviceAttributeClockRate')
                 THEN CAST(value AS INTEGER) / 1000 END) AS clock_mhz,
         max(CASE
               WHEN name IN ('integrated', 'hipDeviceAttributeIntegrated')
                 THEN CAST(value AS INTEGER) END) AS integrated
  FROM device_prop_
  WHERE name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount',
                 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT', 'warpSize', 'hipDeviceAttributeWarpSize', 'totalGlobalMem',
                 'clockRate', 'hipDeviceAttributeClockRate', 'integrated', 'hipDeviceAttributeIntegrated')
    AND (source LIKE 'api:hip%' OR source LIKE 'override:%')
  GROUP BY device, changed),
env AS (
  SELECT id AS process, (SELECT value FROM json_each(env) WHERE key = 'GPU_ENABLE_WGP_MODE') AS wgp_mode,
         (SELECT value FROM json_each(env) WHERE key = 'ROC_GLOBAL_CU_MASK') AS global_mask,
         (SELECT value FROM json_each(env) WHERE key = 'HSA_CU_MASK') AS hsa_mask,
         (SELECT group_concat(key || '=' || value, ' ')
          FROM json_each(env)
          WHERE key GLOB 'HSA_OVERRIDE_GFX_VERSION*') AS gfx_version
  FROM process_)
SELECT p.session, p.id AS process_id, p.pid, d.id AS device_id, d.ordinal AS device, d.name, d.arch, i.pci,
       coalesce(k.arch, g.arch, d.arch) GLOB 'gfx1[0-9][0-9][0-9a-f]*' AS has_wgps,
       t.multiprocessors AS told_multiprocessors, t.least_multiprocessors AS told_least_multiprocessors,
       t.warp_size AS told_warp_size, t.least_warp_size AS told_least_warp_size, t.memory AS told_memory,
       t.least_memory AS told_least_memory, t.clock_mhz AS told_clock_mhz, t.integrated AS told_integrated,
       o.multiprocessors AS received_multiprocessors, o.warp_size AS received_warp_size, o.memory AS received_memory,
       m.node_id, m.matched_by, k.node, k.compute_units AS driver_compute_units, k.arch AS driver_arch,
       k.wave_size AS driver_wave_size, k.memory AS driver_memory, k.max_mhz AS driver_mhz,
       k.cpu_cores AS driver_cpu_cores, k.device_id AS driver_device_id, k.revision AS driver_revision,
       k.problem AS driver_problem, g.id AS reference_id, g.name AS reference_name,
       coalesce(ng.matched_by, iif(g.id IS NULL, NULL, 'name')) AS reference_by,
       g.compute_units AS reference_compute_units, g.memory_mib * 1048576 AS reference_memory,
       g.shared_memory AS reference_shared_memory, g.wave_size AS reference_wave_size,
       g.boost_mhz AS reference_boost_mhz, coalesce(k.compute_units, g.compute_units) AS compute_units,
       e.wgp_mode AS gpu_enable_wgp_mode, e.global_mask AS roc_global_cu_mask, e.hsa_mask AS hsa_cu_mask,
       e.gfx_version AS hsa_override_gfx_version
FROM device_ d
JOIN device_ids i ON i.device_id = d.id
JOIN process_ p ON p.id = d.process
JOIN env e ON e.process = p.id
LEFT JOIN told t ON t.device = d.id AND NOT t.changed
LEFT JOIN told o ON o.device = d.id AND o.changed
LEFT JOIN device_nodes m ON m.device_id = d.id
LEFT JOIN kfd_node_ k ON k.id = m.node_id
LEFT JOIN node_gpus ng ON ng.node_id = k.id
LEFT JOIN gpu_ g
  ON g.id = coalesce(ng.gpu_id,
                     (SELECT n.id
                      FROM gpu_ n
                      WHERE n.name = replace(replace(d.name, 'AMD ', ''), ' [ZLUDA]', '') AND k.device_id IS NULL
                      ORDER BY n.id
                      LIMIT 1))
WHERE d.ordinal >= 0;

-- The same as one row for each fact. told, received: different values with commas between them.
CREATE VIEW device_facts AS
WITH property(place, fact, unit, name, divisor) AS (
  VALUES
    (1, 'name', '', 'name', 0), (2, 'architecture', '', 'gcnArchName', 0),
    (3, 'multiprocessors', '', 'multiProcessorCount', 1),
    (3, 'multiprocessors', '', 'hipDeviceAttributeMultiprocessorCount', 1), (4, 'warp size', '', 'warpSize', 1),
    (4, 'warp size', '', 'hipDeviceAttributeWarpSize', 1), (5, 'memory', 'bytes', 'totalGlobalMem', 1),
    (6, 'clock', 'MHz', 'clockRate', 1000), (6, 'clock', 'MHz', 'hipDeviceAttributeClockRate', 1000),
    (7, 'memory clock', 'MHz', 'memoryClockRate', 1000),
    (7, 'memory clock', 'MHz', 'hipDeviceAttributeMemoryClockRate', 1000),
    (8, 'memory bus', 'bits', 'memoryBusWidth', 1), (8, 'memory bus', 'bits', 'hipDeviceAttributeMemoryBusWidth', 1),
    (9, 'L2 cache', 'bytes', 'l2CacheSize', 1), (9, 'L2 cache', 'bytes', 'hipDeviceAttributeL2CacheSize', 1),
    (3, 'multiprocessors', '', 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT', 1),
    (4, 'warp size', '', 'CU_DEVICE_ATTRIBUTE_WARP_SIZE', 1),
    (6, 'clock', 'MHz', 'CU_DEVICE_ATTRIBUTE_CLOCK_RATE', 1000),
    (7, 'memory clock', 'MHz', 'CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE', 1000),
    (8, 'memory bus', 'bits', 'CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH', 1),
    (9, 'L2 cache', 'bytes', 'CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE', 1)),
answer AS (
  SELECT x.device, f.fact, x.source LIKE 'override:%' AS changed, x.source LIKE '%:cu%' AS zluda,
         substr(x.source, instr(x.source, ':') + 1) AS symbol,
         iif(f.divisor = 0, x.value, CAST(x.value AS INTEGER) / f.divisor) AS value
  FROM device_prop_ x
  JOIN property f ON f.name = x.name),
told AS (
  SELECT device, fact, group_concat(DISTINCT iif(changed OR zluda, NULL, value)) AS told,
         group_concat(DISTINCT iif(zluda AND NOT changed, value, NULL)) AS told_by_zluda,
         group_concat(DISTINCT iif(changed AND NOT zluda, value, NULL)) AS received,
         group_concat(DISTINCT iif(changed AND zluda, value, NULL)) AS received_from_zluda,
         group_concat(DISTINCT iif(changed, NULL, symbol)) AS told_by
  FROM answer
  GROUP BY device, fact)
SELECT t.session, t.pid, t.device_id, t.device, f.place, f.fact, f.unit, f.properties, a.told,
       CASE
         WHEN f.fact <> 'multiprocessors' THEN NULL
         WHEN a.told = t.compute_units THEN 'CU'
         WHEN t.has_wgps AND a.told * 2 = t.compute_units THEN 'WGP' END AS counts,
       a.told_by_zluda, a.received, a.received_from_zluda, a.told_by,
       CASE f.place
         WHEN 1 THEN k.name
         WHEN 2 THEN t.driver_arch
         WHEN 3 THEN t.driver_compute_units
         WHEN 4 THEN t.driver_wave_size
         WHEN 5 THEN t.driver_memory
         WHEN 6 THEN t.driver_mhz
         WHEN 7 THEN k.memory_mhz
         WHEN 8 THEN k.memory_bits END AS driver,
       CASE f.place
         WHEN 1 THEN t.reference_name
         WHEN 2 THEN g.arch
         WHEN 3 THEN t.reference_compute_units
         WHEN 4 THEN t.reference_wave_size
         WHEN 5 THEN t.reference_memory
         WHEN 6 THEN t.reference_boost_mhz
         WHEN 8 THEN g.memory_bits
         WHEN 9 THEN g.l2_kib * 1024 END AS reference,
       CASE f.place WHEN 1 THEN v.name WHEN 5 THEN v.memory WHEN 8 THEN v.memory_bits END AS told_by_nvml
FROM device_truth t
JOIN (SELECT place, fact, unit, group_concat(name) AS properties FROM property GROUP BY place) f
LEFT JOIN told a ON a.device = t.device_id AND a.fact = f.fact
LEFT JOIN kfd_node_ k ON k.id = t.node_id
LEFT JOIN gpu_ g ON g.id = t.reference_id
LEFT JOIN nvml_devices v ON v.device_id = t.device_id;
