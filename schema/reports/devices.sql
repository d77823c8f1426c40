-- Devices: what programs were told, what the driver says, what the reference table says
-- about: On a terminal a page. Counts: HIP's multiprocessors are compute units (CU), on RDNA work-group processors (WGP) of two compute units
-- about: each: 36 WGP = 72 CU. The driver's GPU is found by PCI address or unique id, never by number.
-- sort: ordinal
-- leave: uuid overwritten visible_to reference driver_memory_bytes driver_arch warp_size node pci
-- column: ordinal              id     as the processes number it
-- column: name                 text   marketing name, as told
-- column: arch                 text   gfx name, as told
-- column: multiprocessors      id     multiProcessorCount as HIP reports it
-- column: compute_units        id     physical, from the driver, or else from the reference table
-- column: warp_size            id     threads of a wavefront as HIP reports it
-- column: memory_bytes         bytes  total, as told
-- column: pci                  text   address on the bus
-- column: uuid                 text   of the device
-- column: node                 id     of the driver's topology (KFD)
-- column: driver_arch          text   gfx name, from the driver
-- column: driver_memory_bytes  bytes  of the board, from the driver
-- column: reference            text   product in the reference table
-- column: overwritten          text   what fade changed in what the programs received
-- column: visible_to           text   ids of the processes that asked for it
SELECT t.device AS ordinal, t.name, t.arch, max(t.told_multiprocessors) AS multiprocessors, max(t.compute_units) AS compute_units, max(t.told_warp_size) AS warp_size,
       d.total_memory AS memory_bytes, t.pci, d.uuid, t.node, t.driver_arch, t.driver_memory AS driver_memory_bytes, t.reference_name AS reference,
       (SELECT group_concat(DISTINCT h.target || ' ' || h.was || ' -> ' || h.became) FROM override_hits h WHERE h.session = t.session AND h.device = t.device) AS overwritten,
       group_concat(DISTINCT t.pid) AS visible_to
FROM device_truth t JOIN devices d ON d.id = t.device_id
WHERE true /*? AND t.session = :session */ /*? AND t.pid = :pid */ /*? AND t.device = :device */
  /*? AND t.name REGEXP :name */
GROUP BY t.session, t.device, t.name, t.arch, d.total_memory, t.pci, d.uuid, t.node
