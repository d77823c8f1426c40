-- Devices: the runtime's answers, the driver's topology and the reference table.

-- The identity of a device: the runtime's answers, attributes too. A UUID of zeros counts as none.
CREATE VIEW device_ids AS
WITH part AS (
  SELECT device,
         max(iif(name IN ('hipDeviceAttributePciBusId', 'CU_DEVICE_ATTRIBUTE_PCI_BUS_ID'), CAST(value AS INTEGER),
                 NULL)) AS bus,
         max(iif(name IN ('hipDeviceAttributePciDeviceId', 'CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID'), CAST(value AS INTEGER),
                 NULL)) AS slot,
         max(iif(lower(name) IN ('hipdeviceattributepcidomainid', 'cu_device_attribute_pci_domain_id'),
                 CAST(value AS INTEGER), NULL)) AS domain
  FROM device_prop_
  WHERE source GLOB 'api:*'
  GROUP BY device)
SELECT d.id AS device_id,
       coalesce(d.pci,
                iif(a.bus IS NULL OR a.slot IS NULL, NULL,
                    printf('%04x:%02x:%02x.0', coalesce(a.domain, 0), a.bus, a.slot))) AS pci,
       iif(trim(d.uuid, '0-') = '', NULL, d.uuid) AS uuid
FROM device_ d
LEFT JOIN part a ON a.device = d.id;

-- The values that the process received: fade's value if a rule overwrote the answer; told_... is the runtime's answer.
CREATE VIEW devices AS
WITH fact(fact, name) AS (
  VALUES
    ('name', 'name'), ('arch', 'gcnArchName'), ('memory', 'totalGlobalMem'), ('count', 'multiProcessorCount'),
    ('count', 'hipDeviceAttributeMultiprocessorCount'), ('count', 'CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT')),
last AS (  -- SQLite takes x.value from the row with the largest id
  SELECT x.device, f.fact, x.source GLOB 'override:*' AS changed, x.value, max(x.id) AS id
  FROM device_prop_ x
  JOIN fact f ON f.name = x.name
  GROUP BY 1, 2, 3),
received AS (
  SELECT device, max(iif(fact = 'name' AND changed, value, NULL)) AS name,
         max(iif(fact = 'arch' AND changed, value, NULL)) AS arch,
         max(iif(fact = 'memory' AND changed, CAST(value AS INTEGER), NULL)) AS memory,
         max(iif(fact = 'count' AND changed, CAST(value AS INTEGER), NULL)) AS multiprocessors,
         max(iif(fact = 'count' AND NOT changed, CAST(value AS INTEGER), NULL)) AS told_multiprocessors
  FROM last
  GROUP BY device)
SELECT d.id, p.session, p.pid, d.ordinal, coalesce(r.name, d.name) AS name, coalesce(r.arch, d.arch) AS arch, i.pci,
       i.uuid, coalesce(r.memory, d.total_memory) AS total_memory,
       coalesce(r.multiprocessors, r.told_multiprocessors) AS multiprocessors, d.name AS told_name, d.arch AS told_arch,
       d.total_memory AS told_memory, r.told_multiprocessors
FROM device_ d
JOIN process_ p ON p.id = d.process
JOIN device_ids i ON i.device_id = d.id
LEFT JOIN received r ON r.device = d.id
WHERE d.ordinal >= 0;

CREATE VIEW device_properties AS
SELECT x.id, p.session, p.pid, nullif(d.ordinal, -1) AS device, x.name, x.value, x.source, x.call AS call_id,
       x.ts AS start
FROM device_prop_ x
JOIN device_ d ON d.id = x.device
JOIN process_ p ON p.id = d.process;

CREATE VIEW kfd_topology AS
SELECT session, root, problem
FROM kfd_topology_;

CREATE VIEW kfd_nodes AS
SELECT id, session, node, iif(gpu, 'gpu', 'cpu') AS kind, name, problem, arch, pci, uuid, gpu_id, cpu_cores, simd_count,
       simd_per_cu, compute_units, wave_size, vendor_id, device_id, revision, memory, memory_bits, memory_mhz, max_mhz,
       xccs, render_minor
FROM kfd_node_;

CREATE VIEW reference_gpus AS
SELECT g.id, g.name, g.chip, g.arch, g.compute_units, g.memory_mib * 1048576 AS memory, g.shared_memory, g.memory_bits,
       g.boost_mhz, g.l2_kib * 1024 AS l2, g.l3_kib * 1024 AS l3, g.wave_size,
       (SELECT group_concat(printf('%04x%s', p.device_id, coalesce(printf(':%02x', p.revision), '')), ' ')
        FROM gpu_pci_ p
        WHERE p.gpu = g.id) AS pci_ids
FROM gpu_ g;

-- The product of a node; several products share a device id.
CREATE VIEW node_gpus AS
SELECT node_id, session, gpu_id, matched_by
FROM (
  SELECT k.id AS node_id, k.session, g.id AS gpu_id,
         iif(coalesce(p.revision = k.revision, p.revision IS NULL), 'device id and revision',
             'device id and compute units') AS matched_by,
         row_number() OVER (PARTITION BY k.id ORDER BY coalesce(p.revision = k.revision, p.revision IS NULL) DESC,
                            g.compute_units = k.compute_units DESC, g.id) AS place
  FROM kfd_node_ k
  JOIN gpu_pci_ p ON p.device_id = k.device_id
  JOIN gpu_ g ON g.id = p.gpu
  WHERE k.gpu AND k.vendor_id = 4098
    AND (coalesce(p.revision = k.revision, p.revision IS NULL) OR g.compute_units = k.compute_units))
WHERE place = 1;

-- Never by number: by the PCI address, or by the board's unique id. If several nodes share a slot (partitions), an
-- address without a function is ambiguous.
CREATE VIEW device_nodes AS
SELECT device_id, node_id, matched_by
FROM (
  SELECT c.device_id, c.node_id,
         CASE
           WHEN same_uuid AND same_slot THEN 'PCI address and unique id'
           WHEN same_slot THEN 'PCI address'
           WHEN same_uuid THEN 'unique id'
           ELSE 'only GPU' END AS matched_by,
         row_number() OVER (PARTITION BY c.device_id ORDER BY same_uuid AND same_slot DESC, same_slot AND exact DESC,
                            same_uuid DESC, c.node_id) AS place
  FROM (
    SELECT d.id AS device_id, k.id AS node_id, i.pci IS NULL AND i.uuid IS NULL AS unknown,
           coalesce(lower(i.pci) = k.pci, 0) AS exact,
           coalesce(substr(lower(i.pci), 1, instr(i.pci, '.')) = substr(k.pci, 1, instr(k.pci, '.')), 0) AS same_slot,
           coalesce(lower(i.uuid) IN (lower(k.uuid), lower(hex(substr(k.uuid, 5)))), 0) AS same_uuid,
           EXISTS (SELECT 1 FROM device_prop_ x WHERE x.device = d.id AND x.name = 'pciBusId') AS has_function,
           (SELECT count(*)
            FROM kfd_node_ o
            WHERE o.session = k.session AND o.gpu
              AND substr(o.pci, 1, instr(o.pci, '.')) = substr(k.pci, 1, instr(k.pci, '.'))) AS in_slot,
           (SELECT count(*) FROM kfd_node_ o WHERE o.session = k.session AND o.gpu AND o.problem IS NULL) AS gpus,
           d.ordinal
    FROM device_ d
    JOIN device_ids i ON i.device_id = d.id
    JOIN process_ p ON p.id = d.process
    JOIN kfd_node_ k ON k.session = p.session AND k.gpu AND k.problem IS NULL
    WHERE d.ordinal >= 0) c
  WHERE same_uuid OR (same_slot AND (in_slot = 1 OR (exact AND has_function)))
    OR (unknown AND gpus = 1 AND ordinal = 0))
WHERE place = 1;

-- The GPUs that the variables leave to each process that loaded HIP, in the order of the variables' evaluation. A list
-- ends at the first entry that matches no GPU. GPUs that the driver hides (from containers) do not count for HIP
-- either. No json_extract() or json_valid(): SQLite 3.38 to 3.40 refuse them in views of an untrusted schema, as in
-- fade-query.
CREATE VIEW visible_gpus AS
WITH RECURSIVE env AS (
  SELECT p.id AS process_id, p.session, p.pid,
         (SELECT value FROM json_each(p.env) WHERE key = 'ROCR_VISIBLE_DEVICES') AS rocr,
         nullif((SELECT value FROM json_each(p.env) WHERE key = 'HIP_VISIBLE_DEVICES'), '') AS hip,
         nullif((SELECT value FROM json_each(p.env) WHERE key = 'CUDA_VISIBLE_DEVICES'), '') AS cuda
  FROM process_ p
  WHERE p.id IN (SELECT process FROM module_ WHERE role = 'hip')),
gpu AS (
  SELECT id, session, node, lower(uuid) AS uuid, row_number() OVER (PARTITION BY session ORDER BY node) - 1 AS place
  FROM kfd_node_
  WHERE gpu AND problem IS NULL),
word_of(process_id, session, variable, place, word, rest) AS (
  SELECT process_id, session, 'rocr', -1, NULL, rocr || ','
  FROM env
  WHERE rocr <> ''
  UNION ALL
  SELECT process_id, session, 'hip', -1, NULL, coalesce(hip, cuda) || ','
  FROM env
  WHERE coalesce(hip, cuda) IS NOT NULL
  UNION ALL
  SELECT process_id, session, variable, place + 1, lower(trim(substr(rest, 1, instr(rest, ',') - 1))),
         substr(rest, instr(rest, ',') + 1)
  FROM word_of
  WHERE rest <> '' AND place < 1000),
rocr_word AS (SELECT process_id, session, place, word FROM word_of WHERE variable = 'rocr' AND place >= 0),
rocr_hit AS (
  SELECT w.process_id, w.place, g.id
  FROM rocr_word w
  LEFT JOIN gpu g
    ON g.session = w.session
      AND ((w.word GLOB '[0-9]*' AND w.word NOT GLOB '*[^0-9]*' AND CAST(w.word AS INTEGER) = g.place)
           OR (w.word LIKE 'gpu-_%' AND g.uuid = w.word))),
by_rocr AS (
  SELECT e.process_id, e.session, g.id, g.node, g.uuid, g.place
  FROM env e
  JOIN gpu g ON g.session = e.session
  WHERE e.rocr IS NULL
  UNION ALL
  SELECT process_id, session, id, node, uuid, row_number() OVER (PARTITION BY process_id ORDER BY least) - 1
  FROM (
    SELECT h.process_id, g.session, g.id, g.node, g.uuid, min(h.place) AS least
    FROM rocr_hit h
    JOIN gpu g ON g.id = h.id
    WHERE h.place < coalesce((SELECT min(b.place) FROM rocr_hit b WHERE b.process_id = h.process_id AND b.id IS NULL),
                             1000000)
    GROUP BY h.process_id, g.id)),
hip_word AS (SELECT process_id, place, word FROM word_of WHERE variable = 'hip' AND place >= 0),
hip_hit AS (
  SELECT w.process_id, w.place, r.id
  FROM hip_word w
  LEFT JOIN by_rocr r
    ON r.process_id = w.process_id
      AND ((w.word GLOB '[0-9]*' AND w.word NOT GLOB '*[^0-9]*' AND CAST(w.word AS INTEGER) = r.place)
           OR (w.word LIKE 'gpu-_%' AND r.uuid = w.word))),
by_hip AS (
  SELECT r.process_id, r.id, r.place
  FROM by_rocr r
  JOIN env e ON e.process_id = r.process_id
  WHERE coalesce(e.hip, e.cuda) IS NULL
  UNION ALL
  SELECT process_id, id, row_number() OVER (PARTITION BY process_id ORDER BY least) - 1
  FROM (
    SELECT h.process_id, h.id, min(h.place) AS least
    FROM hip_hit h
    WHERE h.id IS NOT NULL
      AND h.place < coalesce((SELECT min(b.place) FROM hip_hit b WHERE b.process_id = h.process_id AND b.id IS NULL),
                             1000000)
    GROUP BY h.process_id, h.id))
SELECT e.session, e.process_id, e.pid, g.id AS node_id, g.node, v.place AS device,
       CASE
         WHEN v.id IS NOT NULL THEN NULL
         WHEN r.id IS NULL THEN 'ROCR_VISIBLE_DEVICES'
         WHEN e.hip IS NOT NULL THEN 'HIP_VISIBLE_DEVICES'
         ELSE 'CUDA_VISIBLE_DEVICES' END AS hidden_by,
       e.rocr AS rocr_visible_devices, coalesce(e.hip, e.cuda) AS hip_visible_devices,
       CASE
         WHEN e.hip IS NOT NULL THEN 'HIP_VISIBLE_DEVICES'
         WHEN e.cuda IS NOT NULL THEN 'CUDA_VISIBLE_DEVICES' END AS hip_variable,
       iif(e.hip IS NOT NULL, e.cuda, NULL) AS ignored_cuda_visible_devices
FROM env e
JOIN gpu g ON g.session = e.session
LEFT JOIN by_rocr r ON r.process_id = e.process_id AND r.id = g.id
LEFT JOIN by_hip v ON v.process_id = e.process_id AND v.id = g.id;

CREATE VIEW thread_devices AS
SELECT p.session, d.thread AS thread_id, d.call AS call_id, d.device
FROM thread_device_ d
JOIN thread_ t ON t.id = d.thread
JOIN process_ p ON p.id = t.process;
