-- Products of matrices that were computed again (--check blas).

-- held_ns: for so long the thread fetched the matrices. checked: matrices of the batch that were checked. problem: why
-- none was compared; NULL: they were. at_row, at_column, at_matrix: the first element that differs, from 0. got,
-- wanted: its real part; NULL: a NaN. worst: the greatest difference; allowed: what was allowed there.
CREATE TABLE check_ (
  id INTEGER PRIMARY KEY, call INTEGER, thread INTEGER NOT NULL, fn INTEGER NOT NULL, caller INTEGER, stack INTEGER,
  step INTEGER, ts INTEGER NOT NULL, held_ns INTEGER NOT NULL, type TEXT NOT NULL, ops TEXT NOT NULL,
  m INTEGER NOT NULL, n INTEGER NOT NULL, k INTEGER NOT NULL, batch INTEGER NOT NULL, checked INTEGER NOT NULL,
  bytes INTEGER NOT NULL, problem TEXT, elements INTEGER NOT NULL, differing INTEGER NOT NULL, at_row INTEGER,
  at_column INTEGER, at_matrix INTEGER, got REAL, wanted REAL, worst REAL, allowed REAL, shown TEXT, folder TEXT,
  blas TEXT) STRICT;

-- Products that were not checked.
CREATE TABLE check_left_ (
  process INTEGER NOT NULL, fn INTEGER NOT NULL, reason TEXT NOT NULL, calls INTEGER NOT NULL,
  PRIMARY KEY (process, fn, reason)) STRICT, WITHOUT ROWID;
