-- The GPUs' sensors.

-- A row for each GPU and second of the recording. looks: how often the sensors were read; asleep: at so many looks the
-- GPU was suspended and was not asked. A value is the average of the readings that the driver gave, NULL: none.
CREATE TABLE gpu_sample_ (
  session INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, node INTEGER NOT NULL, looks INTEGER NOT NULL,
  asleep INTEGER NOT NULL, busy REAL, busy_most INTEGER, memory_busy REAL, memory_busy_most INTEGER, vram REAL,
  vram_most INTEGER, host_memory REAL, host_memory_most INTEGER, power REAL, power_most INTEGER, temperature REAL,
  temperature_most INTEGER, clock REAL, clock_most INTEGER, memory_clock REAL, memory_clock_most INTEGER) STRICT;

-- A row for each change of the GPU memory that a process of the machine holds, by the driver, seen once a second.
CREATE TABLE gpu_holder_ (
  session INTEGER NOT NULL, ts INTEGER NOT NULL, node INTEGER NOT NULL, pid INTEGER NOT NULL,
    bytes INTEGER NOT NULL) STRICT;

-- A row for each change of memory and engine times of a recorded process, by its open files of the DRM driver, seen
-- once a second.
-- vram, host: bytes held; gfx, compute, dma, other: time of engines since the look before, in ns.
CREATE TABLE gpu_client_ (
  session INTEGER NOT NULL, ts INTEGER NOT NULL, node INTEGER NOT NULL, pid INTEGER NOT NULL, vram INTEGER NOT NULL,
  host INTEGER NOT NULL, gfx INTEGER NOT NULL, compute INTEGER NOT NULL, dma INTEGER NOT NULL,
  other INTEGER NOT NULL) STRICT;
