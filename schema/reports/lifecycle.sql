-- What happened to processes and threads: fork, exec, exit, signals, libraries, notes
-- sort: start_ns
-- limit: 100
-- none: no process was recorded
-- question: processes
-- topic: processes
-- column: start_ns  time  when
-- column: pid       id    process
-- column: rank      count of the process in a distributed job
-- column: tid       id    thread
-- column: kind      text  fork, exec, exit, signal, dlopen, unwatched, refused, note ...
-- column: value     id    signal number, exit status, pid of the child ...
-- column: detail    text  in words
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT start AS start_ns, pid, (SELECT r.rank FROM rank_of r WHERE r.session = lifecycle.session
                                   AND r.pid = lifecycle.pid) AS rank, tid, kind, value, detail
FROM lifecycle
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND (kind REGEXP :name OR detail REGEXP :name) */
