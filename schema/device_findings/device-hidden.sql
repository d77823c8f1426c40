-- Present, but left to no process that uses HIP. One rank per GPU is no finding.
SELECT v.session, min(v.pid), NULL, 'device-hidden', 'info',
       printf('node %d of the driver (%s)', v.node, coalesce(g.name, k.name, 'unknown')),
       printf('%s=%s hides this GPU (%s) from every process that loaded HIP.', max(v.hidden_by),
              max(iif(v.hidden_by = 'ROCR_VISIBLE_DEVICES', v.rocr_visible_devices, v.hip_visible_devices)),
              coalesce(k.pci, 'no PCI address')),
       'If it should be used, change the variable. ROCR_VISIBLE_DEVICES counts first; HIP_VISIBLE_DEVICES (or '
       || 'CUDA_VISIBLE_DEVICES if HIP''s is empty) then counts within what is left.'
FROM (SELECT *, max(hidden_by IS NULL) OVER (PARTITION BY session) AS others_seen FROM seen_gpus) v
JOIN kfd_node_ k ON k.id = v.node_id
LEFT JOIN node_gpus n ON n.node_id = k.id
LEFT JOIN gpu_ g ON g.id = n.gpu_id
GROUP BY v.session, v.node_id
HAVING max(v.hidden_by IS NULL) = 0 AND v.others_seen
