-- Rules that fail, delay and change calls, and their effects.

CREATE TABLE injection_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, spec TEXT NOT NULL, function TEXT NOT NULL, action TEXT,
  origin TEXT, seed INTEGER NOT NULL) STRICT;

-- Equal hits (same rule, process, function, caller, action, was, became) add up in n; call and ts are of the first hit.
CREATE TABLE injection_hit_ (
  id INTEGER PRIMARY KEY, rule INTEGER NOT NULL, call INTEGER, thread INTEGER, fn INTEGER, caller INTEGER,
  ts INTEGER NOT NULL, ts_last INTEGER NOT NULL, action TEXT NOT NULL, was TEXT,
  became TEXT, n INTEGER NOT NULL) STRICT;

-- The rows of error_ whose calls were failed by a rule; replaced: they failed with an argument that a rule had changed.
CREATE TABLE injected_error_ (error INTEGER PRIMARY KEY, replaced INTEGER NOT NULL) STRICT;
