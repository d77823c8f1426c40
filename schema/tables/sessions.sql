-- Sessions, and what happened in them.

-- clean: 1 once the recording was closed in order. start_ns, end_ns: CLOCK_REALTIME; boot_ns: CLOCK_BOOTTIME of the
-- same moment. last_call: the highest id of a call.
CREATE TABLE session_ (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER, boot_ns INTEGER NOT NULL,
  host TEXT, kernel TEXT, boot_id TEXT, cwd TEXT, command TEXT, fade_version TEXT, options TEXT, detail TEXT,
  last_call INTEGER NOT NULL DEFAULT 0, clean INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE lifecycle_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ts INTEGER NOT NULL, process INTEGER, thread INTEGER,
  kind TEXT NOT NULL, value INTEGER, detail TEXT) STRICT;

CREATE TABLE drop_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, n INTEGER NOT NULL,
  reason TEXT NOT NULL) STRICT;
