-- The user's actions (--actions). rule counts from 1 in each session.
CREATE TABLE action_ (
  session INTEGER NOT NULL, rule INTEGER NOT NULL, spec TEXT NOT NULL, origin TEXT,
  PRIMARY KEY (session, rule)) STRICT, WITHOUT ROWID;

-- Each time that a rule did something, or tried to (failed). detail: what came of it.
CREATE TABLE action_done_ (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, rule INTEGER NOT NULL, ts INTEGER NOT NULL, action TEXT NOT NULL,
  detail TEXT, call INTEGER, thread INTEGER, caller INTEGER, stack INTEGER, step INTEGER,
  failed INTEGER NOT NULL) STRICT;
