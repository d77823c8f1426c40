-- Which library answers.

-- The loader's rule for a module. rule: LD_PRELOAD, RPATH ...; asker: the module that needs it, or that has the RPATH
-- or RUNPATH. space: 0 is the base namespace. not_taken: other files of that library in the program's variables.
CREATE TABLE origin_ (
  module INTEGER PRIMARY KEY, space INTEGER NOT NULL, family TEXT, kind TEXT, version TEXT, rocm TEXT, rule TEXT,
  asker INTEGER, rpath TEXT, runpath TEXT, not_taken TEXT) STRICT;

-- The imports of a module, as last read. state: 0 bound, 1 not called yet (lazy), 2 weak and found nowhere. target:
-- module; 0 if none.
CREATE TABLE binding_ (
  module INTEGER NOT NULL, api TEXT NOT NULL, state INTEGER NOT NULL, target INTEGER NOT NULL, n INTEGER NOT NULL,
  names TEXT NOT NULL, ts INTEGER NOT NULL,
  PRIMARY KEY (module, api, state, target)) STRICT, WITHOUT ROWID;
