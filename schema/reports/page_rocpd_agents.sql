-- The host and the devices of each process as rows of rocpd_info_agent.
SELECT p.id, 1 AS nid, p.id AS pid, 'CPU' AS type, 0 AS absolute_index, 0 AS logical_index, 0 AS type_index,
       'CPU' AS name, NULL AS model_name, NULL AS vendor_name, NULL AS product_name, 'CPU' AS user_name, '{}' AS extdata
FROM process_ p
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
UNION ALL
SELECT 1000000 + d.id, 1, p.id, 'GPU', d.ordinal + 1, d.ordinal + 1, d.ordinal,
  coalesce(d.arch, d.name, 'GPU ' || d.ordinal),
       NULL, NULL, d.name, 'GPU ' || d.ordinal,
       json_object('pci', d.pci, 'uuid', d.uuid, 'memory', d.total_memory, 'multiprocessors', d.multiprocessors)
FROM devices d
JOIN process_ p ON p.session = d.session AND p.id = (SELECT x.process FROM device_ x WHERE x.id = d.id)
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
