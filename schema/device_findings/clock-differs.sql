-- Compared with the driver only: marketing's boost clock is another thing, and boards differ.
SELECT session, pid, device, 'clock-differs', 'info', printf('device %d (%s)', device, coalesce(name, 'no name')),
       printf('HIP says a clock of %d MHz, the driver %d MHz. HIP''s number is normally the driver''s.', told_clock_mhz,
              driver_mhz),
       'Something changed the limit while the program ran (rocm-smi, a power profile), or HIP asked another interface. '
       || 'Speed follows the real clock, not this number.'
FROM known_devices
WHERE told_clock_mhz <> driver_mhz
