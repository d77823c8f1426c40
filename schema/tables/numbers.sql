-- What was seen in the host's side of copies (--watch-numbers).

-- A copy in which something was found, or that has a checksum. wait: the call after which the bytes were there, if it
-- is another one. down: from the GPU. host, device: addresses, as signed 64-bit numbers. first: place of the first
-- element that was found. type NULL: not told, and not like floats. checksum: of the scanned bytes.
CREATE TABLE number_ (
  id INTEGER PRIMARY KEY, call INTEGER, wait INTEGER, process INTEGER NOT NULL, thread INTEGER NOT NULL,
  fn INTEGER NOT NULL, caller INTEGER, stack INTEGER, step INTEGER, ts INTEGER NOT NULL, down INTEGER NOT NULL,
  host INTEGER NOT NULL, device INTEGER NOT NULL, bytes INTEGER NOT NULL, scanned INTEGER NOT NULL, type TEXT,
  guessed INTEGER NOT NULL, elements INTEGER NOT NULL, nan INTEGER NOT NULL, inf INTEGER NOT NULL,
  outside INTEGER NOT NULL, first INTEGER, first_value TEXT, least REAL, greatest REAL, checksum INTEGER) STRICT;

-- All copies that were looked at. device 0, stack 0: one of more than are kept apart, or not known. least, greatest: of
-- finite values, with range. first_found, first_nan: number_.id.
CREATE TABLE number_sum_ (
  process INTEGER NOT NULL, fn INTEGER NOT NULL, caller INTEGER NOT NULL, stack INTEGER NOT NULL, down INTEGER NOT NULL,
  device INTEGER NOT NULL, type TEXT NOT NULL, guessed INTEGER NOT NULL,
  copies INTEGER NOT NULL, bytes INTEGER NOT NULL,
  scanned INTEGER NOT NULL, elements INTEGER NOT NULL, nan INTEGER NOT NULL, inf INTEGER NOT NULL,
  outside INTEGER NOT NULL, nan_copies INTEGER NOT NULL, found_copies INTEGER NOT NULL, least REAL, greatest REAL,
  first INTEGER NOT NULL, first_found INTEGER, first_nan INTEGER,
  PRIMARY KEY (process, fn, caller, stack, down, device, type, guessed)) STRICT, WITHOUT ROWID;

-- All copies that were looked at, by step. step 0: outside of steps.
CREATE TABLE number_step_ (
  process INTEGER NOT NULL, thread INTEGER NOT NULL, step INTEGER NOT NULL, down INTEGER NOT NULL,
  copies INTEGER NOT NULL, bytes INTEGER NOT NULL, scanned INTEGER NOT NULL,
  PRIMARY KEY (process, thread, step, down)) STRICT, WITHOUT ROWID;

-- Copies that were not looked at, or of which less is kept.
CREATE TABLE number_left_ (
  process INTEGER NOT NULL, down INTEGER NOT NULL, reason TEXT NOT NULL,
  copies INTEGER NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (process, down, reason)) STRICT, WITHOUT ROWID;
