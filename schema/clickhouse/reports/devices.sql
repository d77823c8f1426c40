-- Devices: what the programs received, what the driver says, what the sensors told
-- about: What differs between machines: fade-query --on URL diff.
-- sort: rank
-- limit: 64
-- leave: job uuid driver_memory_bytes reference driver_arch warp_size node pci watts celsius_most
-- none: no program asked about a device
-- column: job             text      its job
-- column: host            text      its machine
-- column: rank                 count  of the process in a distributed job
-- column: pid                  id     process
-- column: ordinal              id     as the process numbers it
-- column: name                 text   marketing name, as received
-- column: arch                 text   gfx name, as received
-- column: multiprocessors      id     multiProcessorCount, as received
-- column: compute_units        id     physical, from the driver, or else from the reference table
-- column: warp_size            id     threads of a wavefront, as received
-- column: memory_bytes         bytes  total, as received
-- column: pci                  text   address on the bus
-- column: node                 id     of the driver's topology (KFD)
-- column: driver_arch          text   gfx name, from the driver
-- column: driver_memory_bytes  bytes  of the board, from the driver
-- column: reference            text   product in the reference table
-- column: driver_mhz           id     highest clock, from the driver
-- column: mhz                  number average clock, from the sensor
-- column: busy_percent         number average load, from the sensor
-- column: watts                number average power, from the sensor
-- column: celsius_most         number highest temperature, from the sensor
SELECT job, host, rank, pid, device AS ordinal, name, arch, coalesce(received_multiprocessors,
  told_multiprocessors) AS multiprocessors,
  compute_units, coalesce(received_warp_size, told_warp_size) AS warp_size, coalesce(received_memory,
    told_memory) AS memory_bytes,
  pci, node, driver_arch, driver_memory AS driver_memory_bytes, reference_name AS reference, driver_mhz,
  round(clock) AS mhz, round(busy, 1) AS busy_percent, round(power, 1) AS watts, hot AS celsius_most
FROM (SELECT * FROM device_truth WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
  /*? AND pid = :pid */ /*? AND device = :device */ /*? AND match(name, :name) */) AS truth
GLOBAL ANY LEFT JOIN (
  SELECT recording, node, toNullable(avg(mhz)) AS clock, toNullable(avg(busy_percent)) AS busy,
    toNullable(avg(watts)) AS power,
    max(celsius_most) AS hot
  FROM gpu_samples WHERE 1 /*? AND job = :job */ /*? AND host = :host */
  GROUP BY recording, node) AS sensors USING (recording, node)
