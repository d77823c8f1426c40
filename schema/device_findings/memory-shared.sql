-- APUs: what HIP calls the total is the part of the system's memory that was set aside.
SELECT session, pid, device, 'memory-shared', 'info', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('This GPU has no memory of its own: HIP''s total of %.1f GiB is the part of the system''s %.1f GiB that '
              || 'is set aside for it.',
              told_memory / 1073741824.0, system_memory / 1073741824.0),
       printf('If models do not fit: give the GPU more in the firmware''s setup (UMA frame buffer size), or raise the '
              || 'limit of shared memory (module parameters amdgpu.gttsize, ttm.pages_limit). --set '
              || 'device.%d.totalGlobalMem=... changes what the program believes, not what can be allocated.',
              device)
FROM (
  SELECT t.*, (SELECT sum(c.memory) FROM kfd_node_ c WHERE c.session = t.session AND NOT c.gpu) AS system_memory
  FROM known_devices t)
WHERE (told_integrated = 1 OR reference_shared_memory = 1 OR driver_cpu_cores > 0) AND told_memory * 2 < system_memory
