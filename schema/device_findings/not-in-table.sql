-- A GPU that the reference table does not know.
SELECT t.session, t.pid, t.device, 'not-in-table', 'info',
       printf('device %d (%s)', t.device, coalesce(t.name, 'no name')),
       printf('The reference table has no GPU with the PCI id 1002:%04x%s and %s compute units. HIP and the driver are '
              || 'compared anyway.',
              t.driver_device_id, coalesce(printf(', revision %02x', t.driver_revision), ''),
              coalesce(t.driver_compute_units, 'unknown')),
       'A newer fade may know it. The missing facts are only those of the reference column.'
FROM known_devices t
WHERE t.driver_device_id IS NOT NULL AND t.reference_name IS NULL
