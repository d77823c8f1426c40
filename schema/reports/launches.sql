-- Every kernel launch, in order
-- about: A launch of a graph is one row; its kernels are in the report graphs.
-- limit: 50
-- page: id
-- leave: launches function shared_bytes tid pid device stream captured duration_ns id
-- none: no kernel was launched
-- question: work
-- topic: kernels
-- rows: of single calls
-- events: kernel
-- column: id            id        of the call
-- column: start_ns      time      entry of the launching call
-- column: duration_ns   duration  of the launching call on the host
-- column: pid           id        process
-- column: rank          count     of the process in a distributed job
-- column: tid           id        thread
-- column: name          text      kernel, demangled; more: others that the same call launched
-- column: launches      count     kernels given to the GPU: none where it failed or went into a graph; a graph's row
--   has all of the graph's
-- column: grid          text      work-groups
-- column: block         text      work-items of a work-group
-- column: shared_bytes  bytes     dynamic shared memory (LDS)
-- column: stream        text      handle; empty: the default stream
-- column: device        id        of the stream
-- column: captured      text      yes: it went into a graph instead of running
-- column: function      text      that launched it
-- column: result        id        0: success
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT id, start AS start_ns, duration AS duration_ns, pid,
       (SELECT r.rank FROM rank_of r WHERE r.session = launches.session AND r.pid = launches.pid) AS rank,
       tid, name || iif(more, printf(' and %d more', more), '') AS name,
       iif(captured OR coalesce(result, 0) <> 0, 0, 1 + more) AS launches, grid_x ||
       'x' || grid_y || 'x' || grid_z AS grid, block_x || 'x' || block_y || 'x' || block_z AS block, shared_bytes,
       CASE WHEN stream <> 0 THEN stream_hex END AS stream, device, iif(captured, 'yes', NULL) AS captured,
       function, CASE WHEN duration IS NOT NULL THEN coalesce(result, 0) END AS result
FROM launches
WHERE nth = 0 /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND name REGEXP :name */ /*?errors AND coalesce(result, 0) <> 0 */
  /*? AND duration >= :slower_than */
UNION ALL
SELECT id, start, duration, pid, (SELECT r.rank FROM rank_of r WHERE r.session = graph_launches.session
                                     AND r.pid = graph_launches.pid), tid,
       printf('graph %d (%d kernels)', graph_id, kernels),
       iif(coalesce(result, 0) <> 0, 0, iif(kernels = 0 AND NOT complete, 1, kernels)),
       NULL, NULL, CAST(NULL AS INTEGER), CASE WHEN stream <> 0 THEN stream_hex END, device, NULL, function,
       CASE WHEN duration IS NOT NULL THEN coalesce(result, 0) END
FROM graph_launches
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND printf('graph %d', graph_id) REGEXP :name */ /*?errors AND coalesce(result, 0) <> 0 */
  /*? AND duration >= :slower_than */
