-- The program received a count of compute units, but kernels span pairs of them: cooperative grids sized by it are
-- refused.
SELECT t.session, t.pid, t.device, 'count-over-kernels', 'warning',
       printf('kernels on device %d (%s)', t.device, coalesce(t.name, 'no name')),
       printf('%s: compiled in WGP mode, where a work-group may use both compute units of a work-group processor. The '
              || 'program received %d multiprocessors instead of %d. As many work-groups as '
              || 'hipOccupancyMaxActiveBlocksPerMultiprocessor says, times that count, do not fit at once: a '
              || 'cooperative launch of such a grid is refused (hipErrorCooperativeLaunchTooLarge).',
              min(substr(c.name, 1, 60))
              || iif(count(DISTINCT c.kernel_id) > 1, printf(' and %d others', count(DISTINCT c.kernel_id) - 1), ''),
              coalesce(t.received_multiprocessors, t.told_multiprocessors), t.compute_units / 2),
       'Size cooperative grids by the smaller count, or compile these kernels in CU mode (-mcumode). Other launches '
       || 'are not affected. The report code shows the mode of each kernel.'
FROM known_devices t
JOIN kernel_streams s ON s.session = t.session AND s.pid = t.pid AND s.device = t.device
JOIN kernel_codes c ON c.kernel_id = s.kernel_id AND c.mode = 'WGP' AND coalesce(c.used, 1)
WHERE t.has_wgps AND coalesce(t.received_multiprocessors, t.told_multiprocessors) = t.compute_units
GROUP BY t.session, t.pid, t.device
