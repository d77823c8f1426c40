-- Samples.

-- The places of threads outside all watched calls (--sample): a look at a running thread. stack: of Python frames
-- alone; frame: the innermost Python frame of the user's own code, else the innermost.
CREATE TABLE sample_ (
  thread INTEGER NOT NULL, ts INTEGER NOT NULL, stack INTEGER NOT NULL, frame INTEGER NOT NULL) STRICT;
