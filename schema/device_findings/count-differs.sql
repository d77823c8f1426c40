-- Neither compute units nor work-group processors, and no mask explains it.
SELECT session, pid, device, 'count-differs', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('HIP says %d multiprocessors; %s says %d compute units%s. Neither counting gives HIP''s number.',
              told_multiprocessors, iif(driver_compute_units IS NULL, 'the reference table', 'the driver'),
              compute_units, iif(has_wgps, printf(' (%d work-group processors)', compute_units / 2), '')),
       'Look for something that takes compute units away: a mask set by the program itself, a partition mode, a '
       || 'virtual GPU, HSA_COOP_CU_COUNT on gfx90a.'
FROM known_devices
WHERE told_multiprocessors IS NOT NULL AND compute_units > 0 AND told_multiprocessors <> compute_units
  AND (told_multiprocessors * 2 <> compute_units OR NOT coalesce(has_wgps, 0))
  AND NOT (coalesce(roc_global_cu_mask, '') <> '' AND told_multiprocessors < compute_units)
