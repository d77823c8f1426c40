-- How processes used the CPU and the GPU.

-- The calls of a process, for each second in which it called. launches: successful launches, kernels and graphs;
-- first_launch, last_launch: entry of the first and last of these.
CREATE TABLE process_use_ (
  process INTEGER NOT NULL, sec INTEGER NOT NULL, calls INTEGER NOT NULL, errors INTEGER NOT NULL,
  launches INTEGER NOT NULL, failed_launches INTEGER NOT NULL, first_launch INTEGER, last_launch INTEGER,
  PRIMARY KEY (process, sec)) STRICT, WITHOUT ROWID;

-- CPU time that a process had used by then, over all its threads: a row a second at first, later at growing intervals.
CREATE TABLE cpu_sample_ (
  process INTEGER NOT NULL, ts INTEGER NOT NULL, cpu_ns INTEGER NOT NULL,
  PRIMARY KEY (process, ts)) STRICT, WITHOUT ROWID;
