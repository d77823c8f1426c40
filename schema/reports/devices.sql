-- Devices as the program was told about them
-- about: What HIP reported, before any override. On RDNA, HIP counts work-group processors as multiprocessors: 36 of them are 72 compute units.
-- sort: ordinal
-- leave: uuid visible_to warp_size pci
-- column: ordinal          id     as the processes number it
-- column: name             text   marketing name
-- column: arch             text   gfx name
-- column: multiprocessors  id     multiProcessorCount as HIP reports it
-- column: warp_size        id     threads of a wavefront as HIP reports it
-- column: memory_bytes     bytes  total
-- column: pci              text   address on the bus
-- column: uuid             text   of the device
-- column: visible_to       text   ids of the processes that asked for it
SELECT d.ordinal, d.name, d.arch, max(CASE WHEN x.name LIKE '%MultiProcessorCount' THEN CAST(x.value AS INTEGER) END) AS multiprocessors,
       max(CASE WHEN x.name LIKE '%WarpSize' THEN CAST(x.value AS INTEGER) END) AS warp_size, d.total_memory AS memory_bytes, d.pci, d.uuid,
       group_concat(DISTINCT d.pid) AS visible_to
FROM devices d
LEFT JOIN device_properties x ON x.session = d.session AND x.pid = d.pid AND x.device = d.ordinal AND x.source LIKE 'api:%'
      AND (x.name IN ('multiProcessorCount', 'hipDeviceAttributeMultiprocessorCount', 'warpSize', 'hipDeviceAttributeWarpSize'))
WHERE d.ordinal >= 0
  /*? AND d.session = :session */ /*? AND d.pid = :pid */ /*? AND d.ordinal = :device */
  /*? AND d.name REGEXP :name */
GROUP BY d.ordinal, d.name, d.arch, d.total_memory, d.pci, d.uuid
