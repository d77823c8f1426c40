-- Calls that failed, the first failure of a job first
-- about: Times are since the begin of the job, so that ranks of several machines can be compared. clock says by what:
-- about: collectives (the ends of collective operations on the GPUs, exact to about a millisecond), or NTP (the wall
-- about: clocks of the machines). Results that are an answer are no failures. Failures of a process with the same
-- about: function, error and place are one row.
-- sort: start_ns
-- limit: 50
-- leave: injected call_id code tid pid caller args last_ns job
-- none: no call failed
-- column: job             text      its job
-- column: host            text      its machine
-- column: start_ns  time   the first of them, since the begin of the job
-- column: clock     text   what times of several machines rest on
-- column: pid       id     process
-- column: rank      count  of the process in a distributed job
-- column: tid       id     thread; empty: several
-- column: name      text   function
-- column: code      id     result
-- column: error     text   name of the result
-- column: repeats   count  failures that this row stands for
-- column: injected  yesno  failed by fade on request (--inject)
-- column: last_ns   time   the last of them
-- column: call_id   id     id of the first call
-- column: caller    text   where it was called from
-- column: args      text   arguments of the first call
SELECT job, host, first + shift AS start_ns, clock, pid, rank, tid, name, code, error, repeats, injected,
  newest + shift AS last_ns, call_id, caller, args
FROM (
  SELECT job, host, recording, rank, pid, name, code, caller, injected, min(start) AS first, max(last) AS newest,
    argMin(error, start) AS error, sum(repeats) AS repeats, if(min(tid) = max(tid), toNullable(min(tid)), NULL) AS tid,
    argMin(call_id, start) AS call_id, argMin(args, start) AS args
  FROM failures WHERE NOT ifNull(normal, 0) /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
    /*? AND pid = :pid */ /*? AND tid = :tid */ /*? AND (match(name, :name) OR match(ifNull(error, ''), :name)) */
  GROUP BY job, host, recording, rank, process_id, pid, name, code, caller, injected) AS failed
GLOBAL ANY LEFT JOIN ({begins}) AS begins USING (job, recording)
WHERE 1 /*? AND start_ns >= :from */ /*? AND start_ns < :to */
