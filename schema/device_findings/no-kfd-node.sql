-- HIP names a device that the driver's topology does not have.
SELECT t.session, t.pid, t.device, 'no-kfd-node', 'warning',
       printf('device %d (%s)', t.device, coalesce(t.name, 'no name')),
       printf('HIP names a GPU at %s; the driver''s topology below %s has none there.', t.pci, k.root),
       'In a container its /sys may show other GPUs than its /dev/kfd, or none: compare ls '
       || '/sys/class/kfd/kfd/topology/nodes inside and outside. A simulated GPU (HSA_MODEL_TOPOLOGY) is not in /sys '
       || 'either: fade-run --sysfs-root names another place.'
FROM known_devices t
JOIN kfd_topology_ k ON k.session = t.session
WHERE t.node_id IS NULL AND t.pci IS NOT NULL AND EXISTS (SELECT 1 FROM kfd_node_ n WHERE n.session = t.session)
