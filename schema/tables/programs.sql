-- Processes and threads, and the files and functions in them.

-- exe, command, env: of the newest program (exec). env: JSON object of the variables that may be stored.
CREATE TABLE process_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, parent INTEGER, pid INTEGER NOT NULL, ppid INTEGER, uid INTEGER,
  start_ticks INTEGER, ts INTEGER NOT NULL, ts_end INTEGER, exe TEXT, command TEXT, env TEXT, exit_code INTEGER,
  exit_signal INTEGER) STRICT;

CREATE TABLE thread_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, tid INTEGER NOT NULL, name TEXT, ts INTEGER NOT NULL,
  ts_end INTEGER) STRICT;

CREATE TABLE module_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, path TEXT NOT NULL, soname TEXT, build_id TEXT, role TEXT,
  version TEXT, base INTEGER, size INTEGER, sites INTEGER NOT NULL, ts INTEGER NOT NULL, ts_end INTEGER) STRICT;

-- One name in one library file. arg_names: comma separated. success: the result that means success, NULL if every
-- result is fine.
CREATE TABLE function_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, name TEXT NOT NULL, api TEXT NOT NULL, grp TEXT NOT NULL,
  kind TEXT NOT NULL, library TEXT, arg_names TEXT, result_type TEXT, success INTEGER) STRICT;

-- Other names of a function: several exported names may have one address.
CREATE TABLE function_name_ (fn INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (fn, name)) STRICT, WITHOUT ROWID;

-- The places that call. symbol: enclosing function +offset; offset counts from the library's load address.
CREATE TABLE call_site_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, library TEXT, offset INTEGER, symbol TEXT, address INTEGER) STRICT;
