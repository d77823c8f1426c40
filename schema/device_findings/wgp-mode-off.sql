-- The official switch is set: say what it does not change.
SELECT session, pid, device, 'wgp-mode-off', 'info', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('GPU_ENABLE_WGP_MODE=%s: HIP counts the %d compute units one by one instead of %d work-group processors. '
              || 'Kernels that were compiled before, as in a library or a wheel, still run in WGP mode; those compiled '
              || 'by hiprtc follow the switch.',
              gpu_enable_wgp_mode, told_multiprocessors, told_multiprocessors / 2),
       'Keep it if the program needs the number. If a cooperative launch fails with hipErrorCooperativeLaunchTooLarge '
       || '(720), its grid was sized by the larger number for a kernel in WGP mode: unset the variable, or halve the '
       || 'grid.'
FROM known_devices
WHERE has_wgps AND told_multiprocessors = compute_units AND lower(gpu_enable_wgp_mode) IN ('0', 'false')
