-- Streams and what was put into them
-- sort: start_ns
-- limit: 50
-- leave: end_ns cu_mask priority tid pid kernels kind
-- none: no stream was made or used
-- question: work
-- topic: streams
-- events: stream
-- column: stream    text   handle; 0x0: the default stream, 0x2: the per-thread one
-- column: kind      text   default (each device has one), per-thread default, created, or found: it was there before
--   the recording
-- column: pid       id     process
-- column: rank      count  of the process in a distributed job
-- column: tid       id     thread of a per-thread default stream
-- column: device    id     current device when it was created, or first used
-- column: launches  count  kernels and graphs
-- column: kernels   count  different kernels
-- column: copies    count  copies and fills by functions that take a stream
-- column: syncs     count  waits for it
-- column: priority  id     it was created with
-- column: cu_mask   text   compute units it may use, a bit each
-- column: start_ns  time   when created, or first seen
-- column: end_ns    time   when destroyed
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT s.handle_hex AS stream, s.kind, s.pid, (SELECT r.rank FROM rank_of r WHERE r.session = s.session
                                                  AND r.pid = s.pid) AS rank, s.tid,
       s.device, s.launches, iif(s.kernels = 0 AND s.launches > 0, NULL, s.kernels) AS kernels, s.copies, s.syncs,
       s.priority, s.cu_mask, s.start AS start_ns, s."end" AS end_ns
FROM streams s
WHERE true /*? AND s.session = :session */ /*? AND s.pid = :pid */
    /*? AND (s.session, s.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND s.device = :device */
