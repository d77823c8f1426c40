-- The GPUs' sensors.

CREATE VIEW gpu_samples AS
SELECT g.session, g.node, k.name, k.pci, g.ts AS start, g.dur AS duration, g.looks, g.asleep, g.busy AS busy_percent,
       g.busy_most AS busy_percent_most, g.memory_busy AS memory_busy_percent,
       g.memory_busy_most AS memory_busy_percent_most, CAST(g.vram AS INTEGER) AS memory, g.vram_most AS memory_most,
       k.memory AS memory_total, CAST(g.host_memory AS INTEGER) AS host_memory,
       g.host_memory_most, g.power / 1000000.0 AS watts, g.power_most / 1000000.0 AS watts_most,
       g.temperature / 1000.0 AS celsius, g.temperature_most / 1000.0 AS celsius_most, g.clock / 1000000.0 AS mhz,
       g.clock_most / 1000000.0 AS mhz_most, g.memory_clock / 1000000.0 AS memory_mhz,
       g.memory_clock_most / 1000000.0 AS memory_mhz_most
FROM gpu_sample_ g
LEFT JOIN kfd_node_ k ON k.session = g.session AND k.node = g.node;

-- recorded: the process is one of this recording.
CREATE VIEW gpu_holders AS
SELECT h.session, h.node, k.pci, h.ts AS start, h.pid, h.bytes,
       EXISTS (SELECT 1 FROM process_ p WHERE p.session = h.session AND p.pid = h.pid) AS recorded
FROM gpu_holder_ h
LEFT JOIN kfd_node_ k ON k.session = h.session AND k.node = h.node;

CREATE VIEW gpu_clients AS
SELECT c.session, c.node, k.pci, c.ts AS start, c.pid, c.vram AS memory, c.host AS host_memory, c.gfx AS graphics_ns,
       c.compute AS compute_ns, c.dma AS copy_ns, c.other AS other_ns
FROM gpu_client_ c
LEFT JOIN kfd_node_ k ON k.session = c.session AND k.node = c.node;

-- What the ledger and the driver say at the same moment: the peak of each process on each device. held: by the driver's
-- folder of the process, else by its open files. The driver is asked once a second, so it may have missed a short peak.
CREATE VIEW gpu_memory AS
WITH change AS MATERIALIZED (
  SELECT session, node, pid, start, bytes,
    bytes - lag(bytes, 1, 0) OVER (PARTITION BY session, node, pid ORDER BY start) AS more
  FROM gpu_holders),
peak AS MATERIALIZED (
  SELECT m.session, m.pid, m.device, t.node, t.name, k.pci, k.memory AS total, m.peak, m.peak_at
  FROM memory_totals m
  JOIN device_truth t ON t.session = m.session AND t.pid = m.pid AND t.device = m.device
  JOIN kfd_node_ k ON k.id = t.node_id
  WHERE m.memory = 'device' AND m.peak > 0),
told AS MATERIALIZED (
  SELECT p.*,
         (SELECT c.bytes
          FROM change c
          WHERE c.session = p.session AND c.node = p.node AND c.pid = p.pid AND c.start <= p.peak_at
          ORDER BY c.start DESC
          LIMIT 1) AS by_folder,
         (SELECT c.vram
          FROM gpu_client_ c
          WHERE c.session = p.session AND c.node = p.node AND c.pid = p.pid AND c.ts <= p.peak_at
          ORDER BY c.ts DESC
          LIMIT 1) AS by_files,
         (SELECT sum(c.more)
          FROM change c
          WHERE c.session = p.session AND c.node = p.node AND c.pid <> p.pid AND c.start <= p.peak_at) AS others,
         (SELECT g.vram_most
          FROM gpu_sample_ g
          WHERE g.session = p.session AND g.node = p.node AND g.ts <= p.peak_at
          ORDER BY g.ts DESC
          LIMIT 1) AS in_use
  FROM peak p),
held AS (SELECT *, coalesce(nullif(by_folder, 0), nullif(by_files, 0)) AS held FROM told)
SELECT session, pid, device, node, name, pci, peak_at AS start, peak AS ledger, held,
       iif(held >= peak, held - peak, NULL) AS beside,
       iif(by_folder > 0, coalesce(others, 0), max(in_use - held, 0)) AS others, in_use, total,
       CASE
         WHEN in_use IS NULL AND held IS NULL THEN 'the driver was not asked'
         WHEN held IS NULL THEN 'the driver did not say what this process held'
         WHEN held < peak THEN 'the driver is asked once a second and did not see this peak'
         WHEN EXISTS (SELECT 1 FROM watched w JOIN process_ p ON p.id = w.process_id
                      WHERE p.session = h.session AND p.pid = h.pid AND w.topic = 'allocations' AND NOT w.complete)
           THEN 'not all allocations were recorded: those that were not count as beside'
       END AS doubt
FROM held h;
