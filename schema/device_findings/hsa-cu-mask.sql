-- This one does not show in the count.
SELECT session, pid, device, 'hsa-cu-mask', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('HSA_CU_MASK=%s: queues may be confined to some of the compute units, though HIP''s count (%d) does not '
              || 'show it.',
              hsa_cu_mask, told_multiprocessors),
       'If that is not wanted: unset HSA_CU_MASK.'
FROM known_devices
WHERE coalesce(hsa_cu_mask, '') <> '' AND told_multiprocessors IS NOT NULL
