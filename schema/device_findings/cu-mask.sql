-- Fewer compute units than the board has, because a mask says so.
SELECT session, pid, device, 'cu-mask', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('ROC_GLOBAL_CU_MASK=%s leaves %d multiprocessors; without it HIP would count %d of this GPU''s '
              || '%d compute units. Kernels run on the compute units in the mask only.',
              roc_global_cu_mask, told_multiprocessors, expected, compute_units),
       'If that is not wanted: unset ROC_GLOBAL_CU_MASK. A job script, a container image or a sharing tool may have '
       || 'set it.'
FROM (
  SELECT *,
         iif(has_wgps AND lower(coalesce(gpu_enable_wgp_mode, '1')) NOT IN ('0', 'false'), compute_units / 2,
             compute_units) AS expected
  FROM known_devices)
WHERE coalesce(roc_global_cu_mask, '') <> '' AND told_multiprocessors < expected
