-- The GPUs of the driver that no program was told about.
SELECT k.node, coalesce(g.name, k.name, 'unknown GPU') AS name, k.arch, k.compute_units, nullif(k.memory, 0) AS memory,
       k.pci, k.problem
FROM kfd_nodes k
LEFT JOIN node_gpus n ON n.node_id = k.id
LEFT JOIN reference_gpus g ON g.id = n.gpu_id
WHERE k.kind = 'gpu' AND k.session = coalesce(:session, k.session) AND k.id NOT IN (SELECT node_id FROM device_nodes)
ORDER BY k.session, k.node
LIMIT 64
