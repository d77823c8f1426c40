-- 32 on RDNA, 64 on GCN and CDNA.
SELECT session, pid, device, 'warp-size', 'warning', printf('device %d (%s)', device, coalesce(name, 'no name')),
       CASE
         WHEN told_warp_size <> expected
           THEN printf('HIP says a warp size of %d; on this architecture (%s) it is %d.', told_warp_size,
                       coalesce(driver_arch, arch), expected)
         ELSE printf('fade told the program a warp size of %d instead of %d. Kernels keep the width they were compiled '
                     || 'for.',
                     received_warp_size, told_warp_size) END,
       'Code that computes indexes, masks or reductions with this number gives wrong results if it is not the real '
       || 'one: leave it as the runtime says it.'
FROM (SELECT *, coalesce(driver_wave_size, reference_wave_size) AS expected FROM known_devices)
WHERE told_warp_size <> expected OR received_warp_size <> told_warp_size
