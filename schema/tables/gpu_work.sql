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
-- overwritten before fade read them; untied: times without a call; untold: answers that were no time; uncalled: seen,
-- and put to run in no call that is recorded.
CREATE TABLE gpu_count_ (
  process INTEGER PRIMARY KEY, seen INTEGER NOT NULL, timed INTEGER NOT NULL, unread INTEGER NOT NULL,
  untied INTEGER NOT NULL, untold INTEGER NOT NULL, uncalled INTEGER NOT NULL) STRICT;

-- From the first to the last work on a device, without counting a moment twice: busy with any work, with kernels or
-- fills, with copies. All three are of the union over queues, so copies + kernels - busy is the time of copies beneath
-- kernels. median: of kernels' times. late: works whose time was told too late to count here.
CREATE TABLE gpu_span_ (
  process INTEGER NOT NULL, device INTEGER NOT NULL, first_ts INTEGER NOT NULL, last_ts INTEGER NOT NULL,
  busy INTEGER NOT NULL, kernels INTEGER NOT NULL, copies INTEGER NOT NULL, n INTEGER NOT NULL,
  median INTEGER NOT NULL, late INTEGER NOT NULL,
  PRIMARY KEY (process, device)) STRICT, WITHOUT ROWID;

-- The same by the second.
CREATE TABLE gpu_busy_ (
  process INTEGER NOT NULL, device INTEGER NOT NULL, sec INTEGER NOT NULL, busy INTEGER NOT NULL,
  kernels INTEGER NOT NULL, copies INTEGER NOT NULL,
  PRIMARY KEY (process, device, sec)) STRICT, WITHOUT ROWID;

-- Times without work between works. cause: the next work was 'queued' already; when the work before ended, the thread
-- that put the next one waited for the GPU in a 'copy' or another call ('sync'); it was in a 'launch', or began it
-- right after its own one before; it did something else ('host'); or 'unknown'.
CREATE TABLE gpu_gap_ (
  process INTEGER NOT NULL, device INTEGER NOT NULL, cause TEXT NOT NULL, n INTEGER NOT NULL, ns INTEGER NOT NULL,
  max INTEGER NOT NULL,
  PRIMARY KEY (process, device, cause)) STRICT, WITHOUT ROWID;

-- The longest of these, at most a hundred of a device. asked: when the next work was put to run. before, after: calls
-- of the works around it; wait: call in which the thread of the next work waited when it began. NULL: not known, or
-- none.
CREATE TABLE gpu_idle_ (
  process INTEGER NOT NULL, device INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, cause TEXT NOT NULL,
  asked INTEGER, before INTEGER, after INTEGER, wait INTEGER,
  PRIMARY KEY (process, device, ts)) STRICT, WITHOUT ROWID;

-- From the entry of a launch to the start on the GPU, of the first kernel of each launch. stream 0: not known. early:
-- starts before the entry, counted as 0, because the clocks of host and GPU disagreed.
CREATE TABLE gpu_delay_ (
  process INTEGER NOT NULL, kernel INTEGER NOT NULL, stream INTEGER NOT NULL, n INTEGER NOT NULL,
  total INTEGER NOT NULL, min INTEGER NOT NULL, max INTEGER NOT NULL, early INTEGER NOT NULL, hist BLOB NOT NULL,
  PRIMARY KEY (process, kernel, stream)) STRICT, WITHOUT ROWID;

-- kind: as in copy_; -2: not known.
CREATE TABLE gpu_copy_ (
  process INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL, n INTEGER NOT NULL, bytes INTEGER NOT NULL,
  total INTEGER NOT NULL, max INTEGER NOT NULL,
  PRIMARY KEY (process, device, kind)) STRICT, WITHOUT ROWID;

-- Work that calls of a step put to run, whenever it ran. busy: of total, without counting a moment twice.
CREATE TABLE gpu_step_ (
  step INTEGER PRIMARY KEY, n INTEGER NOT NULL, total INTEGER NOT NULL, busy INTEGER NOT NULL) STRICT;
