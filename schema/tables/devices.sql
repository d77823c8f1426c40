-- Devices: the runtime's answers, the driver's topology, NVML's answers and the reference table.

-- A device in the numbering of one process.
CREATE TABLE device_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT, arch TEXT, pci TEXT, uuid TEXT,
  total_memory INTEGER) STRICT;

-- A row for each change of a value that the runtime returned. source: 'api:SYMBOL', or 'override:SYMBOL' for the
-- replaced value.
CREATE TABLE device_prop_ (
  id INTEGER PRIMARY KEY, device INTEGER NOT NULL, name TEXT NOT NULL, value TEXT, source TEXT NOT NULL, call INTEGER,
  ts INTEGER NOT NULL) STRICT;

-- The moment when a thread's current device became known or changed: from the end of this call on. Written while calls
-- have rows.
CREATE TABLE thread_device_ (
  thread INTEGER NOT NULL, call INTEGER NOT NULL, device INTEGER NOT NULL,
  PRIMARY KEY (thread, call)) STRICT, WITHOUT ROWID;

-- The answers of NVIDIA's management library, or of a replacement: a row for each change. handle NULL: about no device.
-- nvml_index differs from the numbers of HIP.
CREATE TABLE nvml_answer_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, handle INTEGER, nvml_index INTEGER, name TEXT NOT NULL, value TEXT,
  source TEXT NOT NULL, call INTEGER, ts INTEGER NOT NULL) STRICT;

-- The topology of the driver (KFD) when the session began. problem: the reason for missing nodes.
CREATE TABLE kfd_topology_ (session INTEGER PRIMARY KEY, root TEXT NOT NULL, problem TEXT) STRICT;

-- NULL: could not be read. gpu: 0 for CPUs. uuid: GPU-%016x of unique_id. memory: of the GPU, or of the system for a
-- CPU.
CREATE TABLE kfd_node_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, node INTEGER NOT NULL, gpu INTEGER NOT NULL, name TEXT,
  problem TEXT, arch TEXT, pci TEXT, uuid TEXT, gpu_id INTEGER, cpu_cores INTEGER, simd_count INTEGER,
  simd_per_cu INTEGER, compute_units INTEGER, wave_size INTEGER, vendor_id INTEGER, device_id INTEGER, revision INTEGER,
  memory INTEGER, memory_bits INTEGER, memory_mhz INTEGER, max_mhz INTEGER, xccs INTEGER, render_minor INTEGER) STRICT;

-- Filled from gpus.tsv when the file is made. revision NULL: any.
CREATE TABLE gpu_ (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, chip TEXT, arch TEXT, compute_units INTEGER, memory_mib INTEGER,
  shared_memory INTEGER NOT NULL, memory_bits INTEGER, boost_mhz INTEGER, l2_kib INTEGER, l3_kib INTEGER,
  wave_size INTEGER) STRICT;

CREATE TABLE gpu_pci_ (device_id INTEGER NOT NULL, revision INTEGER, gpu INTEGER NOT NULL) STRICT;
