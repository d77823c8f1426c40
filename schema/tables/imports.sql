-- Files of other profilers that were taken into the recording (fade-query import).

-- fingerprint: of the file's bytes. clock: of its times; shift: what was added to them; spread: how far apart the two
-- tools' begins of one call are, of half of all calls. calls, works, operators: in the file, of processes of this
-- session; of these calls and works are matched and tied to calls that fade saw. elsewhere: rows of other processes,
-- threads or times.
CREATE TABLE import_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, file TEXT NOT NULL, format TEXT NOT NULL, fingerprint TEXT NOT NULL,
  clock TEXT NOT NULL, shift INTEGER NOT NULL, spread INTEGER, calls INTEGER NOT NULL, matched INTEGER NOT NULL,
  works INTEGER NOT NULL, tied INTEGER NOT NULL, operators INTEGER NOT NULL, elsewhere INTEGER NOT NULL) STRICT;

-- Processes whose work of GPUs is not fade's own. A process has all its times from one source.
CREATE TABLE gpu_source_ (process INTEGER PRIMARY KEY, import INTEGER NOT NULL) STRICT;

CREATE TABLE operator_name_ (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

-- Operators of a framework, in order of their begins in each thread. up: the row of the operator around it. self: time
-- outside operators in it. works, gpu: work of GPUs that its own calls put to run, and the time of that.
CREATE TABLE operator_ (
  id INTEGER PRIMARY KEY, import INTEGER NOT NULL, process INTEGER NOT NULL, thread INTEGER NOT NULL,
  name INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, up INTEGER, self INTEGER NOT NULL,
  works INTEGER NOT NULL, gpu INTEGER NOT NULL) STRICT;

CREATE TABLE operator_stat_ (
  process INTEGER NOT NULL, name INTEGER NOT NULL, n INTEGER NOT NULL, total INTEGER NOT NULL, self INTEGER NOT NULL,
  max INTEGER NOT NULL, works INTEGER NOT NULL, gpu INTEGER NOT NULL,
  PRIMARY KEY (process, name)) STRICT, WITHOUT ROWID;
