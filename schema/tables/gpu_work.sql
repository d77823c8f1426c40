-- Work of GPUs with the times at which it ran: --gpu-times.

-- A kernel by its object, which packets name. name: of the symbol; kernel: of a launch, where no symbol was looked up.
CREATE TABLE gpu_kernel_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, object INTEGER NOT NULL, name TEXT, demangled TEXT,
  kernel INTEGER) STRICT;

-- In the order in which both the time and the call became known. kind: 0 kernel, 1 copy, 2 fill, 3 barrier. call: the
-- innermost recorded call that put it to run. queue: counted in its process, NULL: a copy engine. call, queue, device
-- NULL: a time that could not be tied to a call.
CREATE TABLE gpu_work_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, kind INTEGER NOT NULL, kernel INTEGER, device INTEGER,
  queue INTEGER, stream INTEGER, call INTEGER, thread INTEGER, ts INTEGER NOT NULL, dur INTEGER NOT NULL,
  bytes INTEGER) STRICT;

-- kernel, device 0: not known, or none
CREATE TABLE gpu_stat_ (
  process INTEGER NOT NULL, kind TEXT NOT NULL, kernel INTEGER NOT NULL, device INTEGER NOT NULL, n INTEGER NOT NULL,
  total INTEGER NOT NULL, min INTEGER NOT NULL, max INTEGER NOT NULL, bytes INTEGER NOT NULL, first_ts INTEGER NOT NULL,
  last_ts INTEGER NOT NULL, hist BLOB NOT NULL,
  PRIMARY KEY (process, kind, kernel, device)) STRICT, WITHOUT ROWID;

-- n: work that began in that second; ns: time of work in it, added up over queues that worked at once.
CREATE TABLE gpu_second_ (
  process INTEGER NOT NULL, kind TEXT NOT NULL, kernel INTEGER NOT NULL, device INTEGER NOT NULL,
  sec INTEGER NOT NULL, n INTEGER NOT NULL, ns INTEGER NOT NULL,
  PRIMARY KEY (process, kind, kernel, device, sec)) STRICT, WITHOUT ROWID;

-- seen: kernels, copies and fills that were put to run; timed: of these, with a time; unread: packets that were
-- overwritten before fade read them; untied: times without a call; untold: answers that were no time.
CREATE TABLE gpu_count_ (
  process INTEGER PRIMARY KEY, seen INTEGER NOT NULL, timed INTEGER NOT NULL, unread INTEGER NOT NULL,
  untied INTEGER NOT NULL, untold INTEGER NOT NULL) STRICT;
