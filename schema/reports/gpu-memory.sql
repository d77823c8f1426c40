-- Memory of each GPU by the calls that were recorded and by the driver: what holds the rest
-- about: A row has the moment at which the process had allocated most on a device. Recorded calls are fade's ledger;
--   the driver is asked once a second.
-- about: Beside HIP's allocations a process holds memory for the runtime, code objects, scratch memory, queues and
--   pools.
-- sort: pid
-- leave: node pci start_ns doubt
-- none: no moment is known to both: no GPU memory was allocated, or the driver shows no GPU in sysfs (--no-sensors,
--   WSL)
-- question: work
-- topic: allocations
-- events: mem
-- column: pid           id       process
-- column: device        id       ordinal of the device
-- column: node          id       of the driver's topology (KFD)
-- column: pci           text     address on the bus
-- column: start_ns      time     when the process had allocated most
-- column: hip_bytes     bytes    allocated by recorded calls then
-- column: driver_bytes  bytes    held by the process then, by the driver; empty: not known
-- column: beside_bytes  bytes    the difference: runtime, code objects, scratch memory, pools
-- column: others_bytes  bytes    held by other processes then, by the driver
-- column: in_use_bytes  bytes    in use on the device then, by the driver
-- column: total_bytes   bytes    of the board
-- column: doubt         text     why a figure is missing, or what it may hold besides
SELECT pid, device, node, pci, start AS start_ns, ledger AS hip_bytes, held AS driver_bytes, beside AS beside_bytes,
       others AS others_bytes, in_use AS in_use_bytes, total AS total_bytes, doubt
FROM gpu_memory
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND device = :device */
