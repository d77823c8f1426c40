-- RDNA: HIP counts work-group processors, each of two compute units. Explained, never called wrong.
SELECT session, pid, device, 'wgp-count', 'info', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('%d WGP = %d CU: on RDNA, HIP''s multiProcessorCount counts work-group processors (WGP) of two compute '
              || 'units (CU) each. ',
              told_multiprocessors, compute_units)
       || iif(driver_compute_units IS NULL,
              printf('By the reference table this GPU has %d compute units; the driver''s view was not available.',
                     compute_units),
              printf('The driver sees all %d compute units: none is missing.', driver_compute_units)),
       printf('Nothing has to be done. If the program needs the other number, GPU_ENABLE_WGP_MODE=0 makes HIP say %d. '
              || 'It changes how HIP counts, not how fast the GPU is: kernels that were compiled for WGP mode stay so, '
              || 'and cooperative launches sized by the larger number can then be refused.',
              compute_units)
FROM known_devices
WHERE has_wgps AND told_multiprocessors * 2 = compute_units
