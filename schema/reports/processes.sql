-- Processes: what ran, for how long, and how it ended
-- sort: start_ns
-- limit: 50
-- leave: uid exe start_ns ppid threads
-- column: pid          id        process
-- column: ppid         id        its parent
-- column: uid          id        user
-- column: exe          text      program file
-- column: command      text      command line
-- column: threads      count     that were seen
-- column: calls        count     watched calls
-- column: start_ns     time      when it began, or was first seen
-- column: duration_ns  duration  until its end
-- column: ended        text      exit status or signal; empty: was still running
SELECT p.pid, p.ppid, p.uid, p.exe, p.command, p.threads, coalesce(t.calls, 0) AS calls, p.start AS start_ns, p.duration AS duration_ns,
       CASE WHEN p.exit_signal > 0 THEN 'signal ' || p.exit_signal WHEN p.exit_code >= 0 THEN 'exit ' || p.exit_code END AS ended
FROM processes p LEFT JOIN (SELECT process_id, sum(calls) AS calls FROM threads GROUP BY process_id) t ON t.process_id = p.id
WHERE true /*? AND p.session = :session */ /*? AND p.pid = :pid */
  /*? AND (p.command REGEXP :name OR p.exe REGEXP :name) */
