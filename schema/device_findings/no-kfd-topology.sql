-- Nothing to compare with.
SELECT t.session, NULL, NULL, 'no-kfd-topology', 'info', 'this recording',
       printf('The program was told about a GPU, but the driver''s view was not available to compare with: %s.',
              t.problem),
       'In a container: mount the host''s /sys/class/kfd and /sys/devices/virtual/kfd, or give fade another place with '
       || '--sysfs-root. What programs were told is recorded anyway.'
FROM kfd_topology_ t
WHERE t.problem IS NOT NULL AND NOT EXISTS (SELECT 1 FROM kfd_node_ k WHERE k.session = t.session)
  AND EXISTS (SELECT 1
              FROM device_ d
              JOIN process_ p ON p.id = d.process
              WHERE p.session = t.session AND d.ordinal >= 0 AND d.name IS NOT NULL)
