-- Buffers that go back and forth between the same two addresses: 100 times or more, 4 KiB or more, with four launches
-- or fewer each time.
SELECT session, pid, NULL, 'copy-ping-pong', 'warning', 'device buffer ' || device_addr_hex,
       printf('%.1f KiB were copied to the device, back to the same place on the host and up again %d times, with %.1f '
              || 'launches in between on average; these copies took %.3f s.',
              size / 1024.0, trips, 1.0 * launches / trips, host_ns / 1e9),
       'If the host does not need the data each time, leave it on the device: do the step that is done on the host '
       || '(printing, checking, an operation that falls back to the CPU) there, or less often. fade-query calls --name '
       || 'Memcpy shows where the copies come from.'
FROM copy_trips
WHERE trips >= 100 AND size >= 4096 AND launches <= 4 * trips
