-- Kernels whose work-groups stay on one compute unit, where the program was told a count of pairs of them.
SELECT t.session, t.pid, t.device, 'cu-mode', 'info',
       printf('kernels on device %d (%s)', t.device, coalesce(t.name, 'no name')),
       printf('%s: compiled in CU mode, where a work-group stays on one compute unit (CU). The program was told '
              || '%d multiprocessors, which are work-group processors (WGP) of two CUs each. A grid that holds exactly '
              || 'as many work-groups as fit on that many multiprocessors, as a cooperative launch does, can leave '
              || 'half of the %d CUs without work.',
              min(substr(c.name, 1, 60))
              || iif(count(DISTINCT c.kernel_id) > 1, printf(' and %d others', count(DISTINCT c.kernel_id) - 1), ''),
              t.told_multiprocessors, t.compute_units),
       'Grids with many more work-groups than that are not affected. Compile without -mcumode for WGP mode, or size '
       || 'such grids by twice the count. The report code shows the mode of each kernel.'
FROM known_devices t
JOIN kernel_streams s ON s.session = t.session AND s.pid = t.pid AND s.device = t.device
JOIN kernel_codes c ON c.kernel_id = s.kernel_id AND c.mode = 'CU' AND coalesce(c.used, 1)
WHERE t.has_wgps AND t.told_multiprocessors * 2 = t.compute_units
GROUP BY t.session, t.pid, t.device
