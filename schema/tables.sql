-- fade event store, schema version 8: the private tables. Needs SQLite >= 3.37 (STRICT).
-- Tables end in _ and may change with any version; the views (views/*.sql) are the interface. tables/*.sql has the
-- other tables.
-- Times are nanoseconds since the start of the session (session_.start_ns). No indexes while recording.
PRAGMA application_id = 0x46414445;   -- 'FADE', shown by file(1)
PRAGMA user_version   = 8;

CREATE TABLE meta_ (key TEXT PRIMARY KEY, value TEXT) STRICT, WITHOUT ROWID;

-- The rows with column '' are about views.
CREATE TABLE doc_ (
  view TEXT NOT NULL, "column" TEXT NOT NULL, type TEXT NOT NULL, unit TEXT NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (view, "column")) STRICT, WITHOUT ROWID;
