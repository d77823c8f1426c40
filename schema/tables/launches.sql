-- Kernels: launches, streams, graphs and code.

CREATE TABLE kernel_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, name TEXT NOT NULL, demangled TEXT, library TEXT,
  first_call INTEGER) STRICT;

-- Grid in work-groups, block in work-items.
CREATE TABLE geometry_ (
  id INTEGER PRIMARY KEY, gx INTEGER, gy INTEGER, gz INTEGER, bx INTEGER, by INTEGER, bz INTEGER,
  shared INTEGER) STRICT;

-- thread: of the per-thread default stream (2)
CREATE TABLE stream_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, handle INTEGER NOT NULL, device INTEGER, ts INTEGER NOT NULL,
  ts_end INTEGER, launches INTEGER NOT NULL DEFAULT 0, copies INTEGER NOT NULL DEFAULT 0,
  syncs INTEGER NOT NULL DEFAULT 0, thread INTEGER, created INTEGER NOT NULL DEFAULT 0, flags INTEGER, priority INTEGER,
  cu_mask TEXT) STRICT;

-- One row for each distinct launch of a kernel; calls refer to it. captured: it went into a graph instead of running.
CREATE TABLE launch_ (
  id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL, geometry INTEGER NOT NULL, stream INTEGER,
  captured INTEGER NOT NULL) STRICT;

CREATE TABLE kernel_stat_ (
  kernel INTEGER NOT NULL, geometry INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL,
  launch_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL, first_ts INTEGER NOT NULL, last_ts INTEGER NOT NULL,
  PRIMARY KEY (kernel, geometry)) STRICT, WITHOUT ROWID;

-- Further launches of a call that launches several kernels.
CREATE TABLE more_launch_ (
  call INTEGER NOT NULL, nth INTEGER NOT NULL, launch INTEGER NOT NULL,
  PRIMARY KEY (call, nth)) STRICT, WITHOUT ROWID;

-- A graph as it was instantiated or changed (hipGraphExec_t); kernels: number that one launch runs; complete 0: some
-- are unknown.
CREATE TABLE graph_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, handle INTEGER NOT NULL, ts INTEGER NOT NULL,
  kernels INTEGER NOT NULL, complete INTEGER NOT NULL, launches INTEGER NOT NULL DEFAULT 0,
  errors INTEGER NOT NULL DEFAULT 0, launch_ns INTEGER NOT NULL DEFAULT 0, max_ns INTEGER, first_ts INTEGER,
  last_ts INTEGER) STRICT;

CREATE TABLE graph_kernel_ (
  graph INTEGER NOT NULL, kernel INTEGER NOT NULL, geometry INTEGER NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (graph, kernel, geometry)) STRICT, WITHOUT ROWID;

CREATE TABLE graph_launch_ (call INTEGER PRIMARY KEY, graph INTEGER NOT NULL, stream INTEGER) STRICT;

-- The facts in code objects about used kernels, for each architecture of the code; several rows if code of one name
-- differs. Registers of a work-item (vgprs, agprs) and of a wave (sgprs); bytes; wgp_mode 1: a work-group may use both
-- compute units of a work-group processor. NULL: not stated. problem: the reason if nothing is known.
CREATE TABLE kernel_code_ (
  kernel INTEGER NOT NULL, arch TEXT, vgprs INTEGER, agprs INTEGER, sgprs INTEGER, vgpr_spills INTEGER,
  sgpr_spills INTEGER, lds INTEGER, scratch INTEGER, kernarg INTEGER, wave_size INTEGER, max_threads INTEGER,
  wgp_mode INTEGER, dynamic_stack INTEGER, problem TEXT) STRICT;
