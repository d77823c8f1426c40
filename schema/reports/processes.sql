-- Processes: what ran, for how long, and how it ended
-- about: On a terminal, helpers are folded into one line if there are more than three; --limit 0 shows all.
-- sort: start_ns
-- limit: 50
-- leave: helper uid exe start_ns ppid threads
-- none: no process was recorded
-- question: processes
-- topic: processes
-- column: pid          id        process
-- column: rank         count     of a distributed job (RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID ...)
-- column: ppid         id        its parent
-- column: uid          id        user
-- column: exe          text      program file
-- column: command      command   command line
-- column: threads      count     that were seen
-- column: calls        count     watched calls
-- column: start_ns     time      when it began, or was first seen
-- column: duration_ns  duration  until its end
-- column: ended        text      exit status or signal; empty: was still running
-- column: helper       yesno     a short-lived program or shell that used no GPU, a compile worker, or an idle copy of
--   its parent, which ended well
WITH helpers AS MATERIALIZED (SELECT process_id FROM verdicts WHERE helper)
SELECT p.pid, p.rank, p.ppid, p.uid, p.exe, p.command, p.threads, coalesce(t.calls, 0) AS calls,
       p.start AS start_ns, p.duration AS duration_ns,
       CASE WHEN p.exit_signal > 0
       THEN CASE p.exit_signal WHEN 1 THEN 'SIGHUP' WHEN 2 THEN 'SIGINT' WHEN 3 THEN 'SIGQUIT'
           WHEN 4 THEN 'SIGILL' WHEN 5 THEN 'SIGTRAP' WHEN 6 THEN 'SIGABRT' WHEN 7 THEN 'SIGBUS' WHEN 8 THEN 'SIGFPE'
            WHEN 9 THEN 'SIGKILL' WHEN 11 THEN 'SIGSEGV' WHEN 13 THEN 'SIGPIPE' WHEN 14 THEN 'SIGALRM'
           WHEN 15 THEN 'SIGTERM' WHEN 24 THEN 'SIGXCPU' WHEN 25 THEN 'SIGXFSZ'
           WHEN 31 THEN 'SIGSYS' ELSE 'signal ' || p.exit_signal END
       WHEN p.exit_code >= 0 THEN 'exit ' || p.exit_code END AS ended,
       p.id IN (SELECT process_id FROM helpers) AS helper
FROM processes p LEFT JOIN (SELECT process_id, sum(calls) AS calls FROM threads GROUP BY process_id) t
    ON t.process_id = p.id
WHERE true /*? AND p.session = :session */ /*? AND p.pid = :pid */
    /*? AND (p.session, p.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND (p.command REGEXP :name OR p.exe REGEXP :name) */
