-- ---------------------------------------------------------------- samples
-- Where threads were that were in no watched call (--sample): a look at a running thread. stack: of Python frames alone;
-- frame: the innermost of them that is the user's own code, else the innermost.
CREATE TABLE sample_(thread INTEGER NOT NULL, ts INTEGER NOT NULL, stack INTEGER NOT NULL, frame INTEGER NOT NULL) STRICT;
