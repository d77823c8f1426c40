-- What ZLUDA answers by itself, whatever the GPU is. name, number: of the attribute.
SELECT session, pid, device, 'zluda-constant', 'info', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('ZLUDA answered %d of the program''s questions with constants, without asking HIP: %s. They are the same '
              || 'on every GPU.',
              count(*), group_concat(label, ', ')),
       'Read them as what ZLUDA imitates, not as what this GPU can do. The compute capability decides which code the '
       || 'program takes (ZLUDA_CC sets another one); a 0 makes it do without that feature. What HIP says of the GPU: '
       || 'fade-query props.'
FROM (
  WITH constant(number, attribute) AS (
    VALUES
      (10, 'WARP_SIZE'), (35, 'TCC_DRIVER'), (75, 'COMPUTE_CAPABILITY_MAJOR'), (76, 'COMPUTE_CAPABILITY_MINOR'),
      (87, 'SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO'), (102, 'VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED'),
      (115, 'MEMORY_POOLS_SUPPORTED'), (119, 'MEMPOOL_SUPPORTED_HANDLE_TYPES'), (124, 'DMA_BUF_SUPPORTED'),
      (130, 'NUMA_CONFIG'), (131, 'NUMA_ID'), (133, 'MPS_ENABLED'), (134, 'HOST_NUMA_ID'), (139, 'GPU_PCI_DEVICE_ID'),
      (140, 'GPU_PCI_SUBSYSTEM_ID'), (143, 'HOST_NUMA_MULTINODE_IPC_SUPPORTED')),
  answer AS (
    SELECT x.device AS device_id, c.number AS place, c.attribute || ' ' || x.value AS label
    FROM device_prop_ x
    JOIN constant c
      ON x.source = 'api:cuDeviceGetAttribute'
        AND x.name IN ('CU_DEVICE_ATTRIBUTE_' || c.attribute, 'CU_DEVICE_ATTRIBUTE_' || c.number)
    UNION
    SELECT device, 1000, replace(name, 'cuda.', 'compute capability ') || ' ' || value
    FROM device_prop_
    WHERE source = 'api:cuDeviceComputeCapability')
  SELECT p.session, p.pid, d.ordinal AS device, d.name, a.label
  FROM answer a
  JOIN device_ d ON d.id = a.device_id
  JOIN process_ p ON p.id = d.process
  WHERE EXISTS (SELECT 1 FROM module_ m WHERE m.process = p.id AND m.role = 'zluda')
  ORDER BY d.id, a.place, a.label)
GROUP BY session, pid, device
