-- Threads and how long they were in watched calls
-- about: Threads of helpers (report processes) are left out; --pid shows those of one.
-- sort: -in_calls_ns
-- limit: 50
-- leave: end_ns start_ns pid
-- none: no thread made a watched call
-- question: processes
-- topic: calls
-- column: tid       id        thread
-- column: pid       id        its process
-- column: rank      count     of its process in a distributed job
-- column: name      text      the last one it had
-- column: calls     count     watched calls
-- column: errors    count     of them failed
-- column: in_calls_ns  net    in watched calls
-- column: start_ns  time      when it began, or was first seen
-- column: end_ns    time      when it ended
SELECT tid, pid, rank, name, calls, errors, total_ns AS in_calls_ns, start AS start_ns, "end" AS end_ns
FROM threads
WHERE (:pid IS NOT NULL OR process_id NOT IN (SELECT process_id FROM verdicts WHERE helper))
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND name REGEXP :name */
