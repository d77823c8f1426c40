-- What happened to processes and threads: fork, exec, exit, signals, libraries, notes
-- sort: start_ns
-- limit: 100
-- none: no process was recorded
-- question: processes
-- topic: processes
-- column: start_ns  time  when
-- column: pid       id    process
-- column: tid       id    thread
-- column: kind      text  fork, exec, exit, signal, dlopen, unwatched, refused, note ...
-- column: value     id    signal number, exit status, pid of the child ...
-- column: detail    text  in words
SELECT start AS start_ns, pid, tid, kind, value, detail
FROM lifecycle
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND (kind REGEXP :name OR detail REGEXP :name) */
