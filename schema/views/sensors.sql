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
