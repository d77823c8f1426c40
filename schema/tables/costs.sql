-- The cost of fade itself.

-- The cost of a call and a stop on this machine, measured when the session began, for each form of entry: jump or int3;
-- apart: as jump, for a thread on another CPU than the tracer. tap: a call that a tap records; stop_ns is its whole
-- cost.
-- gate: a call that is only counted; stop_ns is its whole cost.
-- calls 0: no measurement; problem is the reason. call: within each duration. stop: of each stop, beyond the time for
-- which fade held the thread; run: of this, what the thread itself runs, 0: not known. Spread: four of five samples lie
-- within median +- spread.
-- least: of jump, the shortest mean duration that can be told from fade's cost; rises with the number of crossed stops.
CREATE TABLE call_cost_ (
  session INTEGER NOT NULL, form TEXT NOT NULL, calls INTEGER NOT NULL, call_ns INTEGER NOT NULL,
  call_spread INTEGER NOT NULL, stop_ns INTEGER NOT NULL, stop_spread INTEGER NOT NULL, run_ns INTEGER NOT NULL,
  least INTEGER, problem TEXT,
  PRIMARY KEY (session, form)) STRICT, WITHOUT ROWID;

-- The cost of breakpoint stops for each thread. crossed: of the stops, those on another CPU than the tracer, an
-- estimate.
-- sampled: of the stops, those whose switches were measured; sampled_ns: beyond held_ns and call_cost_.run_ns.
CREATE TABLE thread_cost_ (
  thread INTEGER PRIMARY KEY, stops INTEGER NOT NULL, held_ns INTEGER NOT NULL, crossed INTEGER NOT NULL,
  sampled INTEGER NOT NULL, sampled_ns INTEGER NOT NULL) STRICT;

-- fn 0: stops that belong to no function
CREATE TABLE overhead_ (
  session INTEGER NOT NULL, fn INTEGER NOT NULL, stops INTEGER NOT NULL, held_ns INTEGER NOT NULL,
  PRIMARY KEY (session, fn)) STRICT, WITHOUT ROWID;
