-- The program's own ranges; steps, waits and idle times.

CREATE TABLE range_name_ (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;

-- Ranges (roctx, NVTX). form: 0 push and pop, 1 start and stop, 2 a mark. depth: ranges of push and pop around it; up:
-- the innermost of them. From the return of the call that opened it (call) to the entry of the one that closed it
-- (call_end), in thread_end. dur NULL: open, or fade was killed. ended: 0 by the program, else by the end of its 1
-- thread, 2 process, 3 program (exec), 4 recording.
CREATE TABLE range_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, thread INTEGER NOT NULL, form INTEGER NOT NULL,
  name INTEGER NOT NULL, depth INTEGER NOT NULL, up INTEGER, ts INTEGER NOT NULL, dur INTEGER, ended INTEGER NOT NULL,
  thread_end INTEGER, call INTEGER NOT NULL, call_end INTEGER) STRICT;

-- hist: as in call_stat_. unclosed: not ended by the program.
CREATE TABLE range_stat_ (
  process INTEGER NOT NULL, form INTEGER NOT NULL, name INTEGER NOT NULL, n INTEGER NOT NULL, unclosed INTEGER NOT NULL,
  total INTEGER NOT NULL, min INTEGER NOT NULL, max INTEGER NOT NULL, hist BLOB,
  PRIMARY KEY (process, form, name)) STRICT, WITHOUT ROWID;

CREATE TABLE range_fault_ (
  process INTEGER NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (process, kind)) STRICT, WITHOUT ROWID;

-- Steps by --step. idx: counts from 1 in each thread. complete: 0 if the program did not end it. A step counts calls
-- that returned in it, in its thread. It also counts calls of threads of its process without a step of their own, while
-- it was the only open step there. growth: of live GPU memory, in_calls: time of outermost calls, waited: time of calls
-- that wait for the GPU.
CREATE TABLE step_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, thread INTEGER NOT NULL, idx INTEGER NOT NULL, name TEXT NOT NULL,
  ts INTEGER NOT NULL, dur INTEGER NOT NULL, complete INTEGER NOT NULL, call INTEGER, call_end INTEGER,
  calls INTEGER NOT NULL, errors INTEGER NOT NULL, launches INTEGER NOT NULL, copies INTEGER NOT NULL,
  copied INTEGER NOT NULL, growth INTEGER NOT NULL, in_calls INTEGER NOT NULL, waited INTEGER NOT NULL) STRICT;

CREATE TABLE step_stat_ (
  step INTEGER NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL, self INTEGER NOT NULL,
  PRIMARY KEY (step, fn)) STRICT, WITHOUT ROWID;

-- Calls that wait for the GPU: synchronising ones, and copies that return when the data is there. caller 0: unknown.
-- longest: call.
CREATE TABLE wait_ (
  process INTEGER NOT NULL, fn INTEGER NOT NULL, caller INTEGER NOT NULL, n INTEGER NOT NULL, total INTEGER NOT NULL,
  max INTEGER NOT NULL, longest INTEGER NOT NULL,
  PRIMARY KEY (process, fn, caller)) STRICT, WITHOUT ROWID;

-- The longest times, at most a hundred per process, in which no thread of the process was in a GPU call. before, after:
-- calls; NULL: begin or end of the process.
CREATE TABLE idle_ (
  process INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, before INTEGER, after INTEGER,
  PRIMARY KEY (process, ts)) STRICT, WITHOUT ROWID;
