-- Less than the board has. A few percent go to firmware and page tables and are not worth a word.
SELECT session, pid, device, 'memory-smaller', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('HIP says %.1f GiB of memory; %s has %.1f GiB.', told_memory / 1073741824.0,
              iif(told_memory < 0.95 * driver_memory, 'the driver says that the board',
                  'according to the reference table the board'),
              iif(told_memory < 0.95 * driver_memory, driver_memory, reference_memory) / 1073741824.0),
       'Look for a partition mode, a virtual GPU or a limit of the container. Programs that size their caches by this '
       || 'number use less memory than the board has.'
FROM known_devices
WHERE NOT (coalesce(told_integrated, 0) = 1 OR coalesce(reference_shared_memory, 0) = 1
           OR coalesce(driver_cpu_cores, 0) > 0)
  AND (told_memory < 0.95 * driver_memory OR told_memory < 0.9 * reference_memory)
