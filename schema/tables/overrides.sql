-- Rules, and the answers that they changed.

CREATE TABLE override_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, spec TEXT NOT NULL, target TEXT NOT NULL, value TEXT,
  origin TEXT) STRICT;

-- Equal hits (same rule, thread, caller, device, target, was, became) add up in n; call and ts are of the first hit.
CREATE TABLE override_hit_ (
  id INTEGER PRIMARY KEY, rule INTEGER NOT NULL, call INTEGER, thread INTEGER, caller INTEGER, ts INTEGER NOT NULL,
  ts_last INTEGER NOT NULL, device INTEGER, target TEXT NOT NULL, was TEXT, became TEXT, n INTEGER NOT NULL) STRICT;
