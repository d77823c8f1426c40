-- Stacks, their frames, and calls added up by stack.

-- One place in code. kind: 0 native, 1 Python, 2 frames are missing (name is the reason), 3 native and
-- found by libunwind. offset: from the module's
-- load address.
CREATE TABLE frame_ (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, kind INTEGER NOT NULL, module INTEGER, address INTEGER NOT NULL,
  offset INTEGER, name TEXT, file TEXT, line INTEGER) STRICT;

-- A stack is one frame on top of another stack. parent NULL: the frame is the outermost.
CREATE TABLE stack_ (id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER NOT NULL) STRICT;

-- Calls whose stack was taken, at their entry.
CREATE TABLE call_stack_ (call INTEGER PRIMARY KEY, stack INTEGER NOT NULL) STRICT;

-- Functions that the compiler inlined at a native frame; depth 0 is the innermost. The frame itself is the function
-- they are inlined in.
CREATE TABLE inline_ (
  frame INTEGER NOT NULL, depth INTEGER NOT NULL, name TEXT, file TEXT, line INTEGER,
  PRIMARY KEY (frame, depth)) STRICT, WITHOUT ROWID;

-- Rollups: calls by stack and function; bytes: allocated by them. And calls by the library that made them, '' if none.
CREATE TABLE stack_stat_ (
  stack INTEGER NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL, total INTEGER NOT NULL,
  self INTEGER NOT NULL, bytes INTEGER NOT NULL, first_call INTEGER NOT NULL,
  PRIMARY KEY (stack, fn)) STRICT, WITHOUT ROWID;
