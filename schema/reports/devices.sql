-- Devices: what programs received, what the driver says, what the reference table says
-- about: On a terminal a page. Counts: HIP's multiprocessors are compute units (CU), on RDNA work-group processors
--   (WGP) of two compute units
-- about: each: 36 WGP = 72 CU. The driver's GPU is found by PCI address or unique id, never by number. A process that
--   did not ask for a fact
-- about: is in the row of processes that asked the same GPU for it.
-- sort: ordinal
-- leave: was uuid overwritten visible_to reference driver_memory_bytes driver_arch warp_size node pci
-- none: no program asked about a device
-- question: devices
-- topic: queries
-- events: device
-- column: ordinal              id     as the processes number it
-- column: name                 text   marketing name, as the processes received it
-- column: arch                 text   gfx name, as received
-- column: multiprocessors      id     multiProcessorCount, as received
-- column: compute_units        id     physical, from the driver, or else from the reference table
-- column: warp_size            id     threads of a wavefront, as received
-- column: memory_bytes         bytes  total, as received
-- column: pci                  text   address on the bus
-- column: uuid                 text   of the device
-- column: node                 id     of the driver's topology (KFD)
-- column: driver_arch          text   gfx name, from the driver
-- column: driver_memory_bytes  bytes  of the board, from the driver
-- column: reference            text   product in the reference table
-- column: was                  text   what the runtime had answered where fade overwrote it
-- column: overwritten          text   what fade changed in what the programs received
-- column: visible_to           text   ids of the processes that asked for it
WITH known AS (
  SELECT t.session, t.device, t.pid, d.name, d.arch,
         coalesce(t.received_multiprocessors, t.told_multiprocessors) AS multiprocessors, t.compute_units,
         coalesce(t.received_warp_size, t.told_warp_size) AS warp_size, d.total_memory AS memory, t.pci,
         iif(trim(d.uuid, '0-') = '', NULL, d.uuid) AS uuid, t.node, t.driver_arch, t.driver_memory, t.reference_name,
         nullif(substr(iif(t.received_multiprocessors <> t.told_multiprocessors,
                           ', multiprocessors ' || t.told_multiprocessors, '') ||
                       iif(t.received_warp_size <> t.told_warp_size, ', warp size ' || t.told_warp_size, '') ||
                       iif(d.name <> t.name, ', name ' || t.name, '') ||
                       iif(d.arch <> t.arch, ', arch ' || t.arch, '') ||
                       iif(t.received_memory <> t.told_memory,
                           printf(', memory %.1f GiB', t.told_memory / 1073741824.0), ''), 3), '') AS was,
         (SELECT group_concat(DISTINCT h.target || ' ' || h.was || ' -> ' || h.became) FROM override_hits h
          WHERE h.session = t.session AND h.pid = t.pid AND h.device = t.device) AS overwritten
  FROM device_truth t JOIN devices d ON d.id = t.device_id
  WHERE true /*? AND t.session = :session */ /*? AND t.pid = :pid */
    /*? AND (t.session, t.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND t.device = :device */),
of_gpu AS (
  SELECT *, coalesce(pci, iif(min(pci) OVER w = max(pci) OVER w, max(pci) OVER w, NULL)) AS gpu
  FROM known WINDOW w AS (PARTITION BY session, device)),
filled AS (
  SELECT session, device, pid, compute_units, uuid, node, driver_arch, driver_memory,
         reference_name, was, overwritten, gpu AS pci, warp_size,
         coalesce(name, iif(min(name) OVER w = max(name) OVER w, max(name) OVER w, NULL)) AS name,
         coalesce(arch, iif(min(arch) OVER w = max(arch) OVER w, max(arch) OVER w, NULL)) AS arch,
         coalesce(multiprocessors, iif(min(multiprocessors) OVER w = max(multiprocessors) OVER w,
                                       max(multiprocessors) OVER w, NULL)) AS multiprocessors,
         coalesce(memory, iif(min(memory) OVER w = max(memory) OVER w, max(memory) OVER w, NULL)) AS memory
  FROM of_gpu WINDOW w AS (PARTITION BY session, device, gpu))
SELECT f.device AS ordinal, f.name, f.arch, f.multiprocessors, max(f.compute_units) AS compute_units,
       max(f.warp_size) AS warp_size,
       f.memory AS memory_bytes, f.pci, max(f.uuid) AS uuid, max(f.node) AS node,
       max(f.driver_arch) AS driver_arch, max(f.driver_memory) AS driver_memory_bytes,
       max(f.reference_name) AS reference, max(f.was) AS was,
       group_concat(DISTINCT f.overwritten) AS overwritten,
       group_concat(DISTINCT f.pid) AS visible_to
FROM filled f
WHERE true /*? AND f.name REGEXP :name */
GROUP BY f.session, f.device, f.name, f.arch, f.multiprocessors, f.memory, f.pci
