-- Each call, and calls added up by function, caller and second.

-- id: assigned at entry, so in order of entry. dur NULL: never returned (see unwound_). up: id - id of the enclosing
-- call. result NULL: 0, or no result. The id is the last column, because SQLite then appends rows with fewer steps
-- (batch_table.hpp). Only fade's writer puts rows into this table and copy_, and all values are integers: SQLite need
-- not check each value (STRICT, NOT NULL).
CREATE TABLE call_ (
  ts INTEGER, dur INTEGER, thread INTEGER, fn INTEGER, caller INTEGER, up INTEGER, result INTEGER, launch INTEGER,
  id INTEGER PRIMARY KEY) ;

-- Calls without a known duration. ts_end: the call was left by an exception, longjmp, cancellation or the end of the
-- thread, noticed at that time. NULL: its return could not be watched; -1: recorded at its entry alone, by the
-- function's .probes line (@entry_only).
CREATE TABLE unwound_ (call INTEGER PRIMARY KEY, ts_end INTEGER) STRICT;

-- JSON object
CREATE TABLE arg_ (call INTEGER PRIMARY KEY, args TEXT NOT NULL) STRICT;

-- Arguments of calls that have no row in arg_: n calls of one function from first to last, packed
-- (probes/call_block.hpp).
CREATE TABLE arg_block_ (
  id INTEGER PRIMARY KEY, fn INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, n INTEGER NOT NULL,
  data BLOB NOT NULL) STRICT;

-- the function's parameters (probes/signature.hpp)
CREATE TABLE arg_signature_ (fn INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;

-- The names of results other than 0.
CREATE TABLE result_name_ (
  fn INTEGER NOT NULL, code INTEGER NOT NULL, name TEXT NOT NULL, failed INTEGER NOT NULL,
  PRIMARY KEY (fn, code)) STRICT, WITHOUT ROWID;

-- All durations of rollups exclude fade's own cost as measured (call_cost_), so a sum may be below 0. call_.dur is the
-- raw measurement. cost: of call_stat_, was subtracted from total; total + cost is the raw sum. parent_fn 0: called
-- from outside any watched call. self: total without watched calls inside. leaves: calls without any inside. hist:
-- numbers of calls by duration, a sequence of pairs of LEB128 numbers (bucket, calls), buckets ascending; bucket b
-- begins at (2 + b % 2) << (6 + b / 2) ns, bucket 0 at 0. tapped: of n, calls that a tap recorded, without a stop.
-- counted: of n, calls that were only counted (--budget): all other columns are of the rest.
CREATE TABLE call_stat_ (
  thread INTEGER NOT NULL, fn INTEGER NOT NULL, parent_fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL,
  total INTEGER NOT NULL, self INTEGER NOT NULL, min INTEGER, max INTEGER, hist BLOB, leaves INTEGER NOT NULL DEFAULT 0,
  cost INTEGER NOT NULL DEFAULT 0, tapped INTEGER NOT NULL DEFAULT 0,
  counted INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (thread, fn, parent_fn)) STRICT, WITHOUT ROWID;

-- first_call: ids are in order of time, so a range of time is a range of ids.
CREATE TABLE call_bucket_ (
  sec INTEGER NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, total INTEGER NOT NULL, first_call INTEGER NOT NULL,
  PRIMARY KEY (sec, fn)) STRICT, WITHOUT ROWID;

CREATE TABLE caller_stat_ (
  process INTEGER NOT NULL, library TEXT NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL,
  total INTEGER NOT NULL, self INTEGER NOT NULL,
  PRIMARY KEY (process, library, fn)) STRICT, WITHOUT ROWID;
