-- Memory: its holders, its errors and how it grew.

-- memory: 0 counted as memory of the device, 1 as pinned memory of the host, NULL neither: address space only, or
-- memory of another process.
CREATE TABLE memory_kind_ (id INTEGER PRIMARY KEY, name TEXT NOT NULL, memory INTEGER) STRICT;
INSERT INTO memory_kind_ VALUES
(0, 'device', 0), (1, 'host', 1), (2, 'managed', 0), (3, 'registered', 1), (4, 'array', 0), (5, 'physical', 0),
(6, 'reserved', NULL), (7, 'imported', NULL), (8, 'graph', 0), (9, 'mapped', NULL);

-- Written when freed, or at the end while still live (ts_end NULL). kind: memory_kind_.id. caller: of the outermost
-- watched call around it. bytes NULL: unknown, for memory of other processes. call, fn, caller for memory of a graph:
-- the call that put the allocation into the graph.
CREATE TABLE alloc_ (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, device INTEGER NOT NULL, addr INTEGER NOT NULL, bytes INTEGER,
  ts INTEGER NOT NULL, ts_end INTEGER, call INTEGER NOT NULL, call_end INTEGER, fn INTEGER, caller INTEGER) STRICT;

-- Memory of another process in this recording: the owner, and its address there.
CREATE TABLE alloc_owner_ (alloc INTEGER PRIMARY KEY, process INTEGER NOT NULL, addr INTEGER NOT NULL) STRICT;

CREATE TABLE mem_bucket_ (
  ms INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL, used INTEGER NOT NULL, peak INTEGER NOT NULL,
  allocs INTEGER NOT NULL, frees INTEGER NOT NULL,
  PRIMARY KEY (ms, device, kind)) STRICT, WITHOUT ROWID;

CREATE TABLE mem_stat_ (
  device INTEGER NOT NULL, kind INTEGER NOT NULL, used INTEGER NOT NULL, peak INTEGER NOT NULL,
  peak_ts INTEGER NOT NULL, allocs INTEGER NOT NULL, frees INTEGER NOT NULL, bytes INTEGER NOT NULL,
  unknown_frees INTEGER NOT NULL,
  PRIMARY KEY (device, kind)) STRICT, WITHOUT ROWID;

-- By the library whose code called; '*': all together; '': the calling code is in no library.
CREATE TABLE mem_holder_ (
  device INTEGER NOT NULL, memory INTEGER NOT NULL, library TEXT NOT NULL, used INTEGER NOT NULL, peak INTEGER NOT NULL,
  peak_ts INTEGER NOT NULL, allocs INTEGER NOT NULL, frees INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (device, memory, library)) STRICT, WITHOUT ROWID;

-- Frees that the runtime refused. fault: 0 freed already, 1 never allocated as far as fade saw, 2 inside an allocation,
-- 3 allocated, but refused. n: frees by that function from that caller; all other columns are of the first one. alloc,
-- call_free: of the earlier allocation and its free.
CREATE TABLE memory_fault_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, fault INTEGER NOT NULL, fn INTEGER NOT NULL, caller INTEGER,
  addr INTEGER NOT NULL, call INTEGER NOT NULL, ts INTEGER NOT NULL, ts_last INTEGER NOT NULL, n INTEGER NOT NULL,
  alloc INTEGER, call_free INTEGER) STRICT;

-- The first allocations that failed for lack of memory. used: live memory of the process then; free, total: the last
-- answer of hipMemGetInfo.
CREATE TABLE oom_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, device INTEGER NOT NULL, memory INTEGER NOT NULL,
  call INTEGER NOT NULL, ts INTEGER NOT NULL, fn INTEGER NOT NULL, caller INTEGER, asked INTEGER NOT NULL,
  used INTEGER NOT NULL, free INTEGER, total INTEGER, told_ts INTEGER) STRICT;

-- The holders of memory then. fn, caller NULL: the many small holders together.
CREATE TABLE oom_holder_ (
  oom INTEGER NOT NULL, kind INTEGER NOT NULL, fn INTEGER, caller INTEGER, n INTEGER NOT NULL, bytes INTEGER NOT NULL,
  largest INTEGER NOT NULL) STRICT;

-- The answers of hipMemGetInfo, at growing intervals, and the live memory of the process then by fade's ledger.
CREATE TABLE mem_told_ (
  device INTEGER NOT NULL, ts INTEGER NOT NULL, call INTEGER NOT NULL, free INTEGER NOT NULL, total INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (device, ts)) STRICT, WITHOUT ROWID;
