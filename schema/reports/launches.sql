-- Every kernel launch, in order
-- limit: 50
-- page: id
-- leave: function shared_bytes tid pid stream duration_ns id
-- column: id            id        of the call
-- column: start_ns      time      entry of the launching call
-- column: duration_ns   duration  of the launching call on the host
-- column: pid           id        process
-- column: tid           id        thread
-- column: name          text      kernel, demangled
-- column: grid          text      work-groups
-- column: block         text      work-items of a work-group
-- column: shared_bytes  bytes     dynamic shared memory (LDS)
-- column: stream        text      handle; empty: the default stream
-- column: function      text      that launched it
-- column: result        id        0: success
SELECT id, start AS start_ns, duration AS duration_ns, pid, tid, name, grid_x || 'x' || grid_y || 'x' || grid_z AS grid,
       block_x || 'x' || block_y || 'x' || block_z AS block, shared_bytes,
       CASE WHEN stream <> 0 THEN stream_hex END AS stream, function, CASE WHEN duration IS NOT NULL THEN coalesce(result, 0) END AS result
FROM launches
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */ /*? AND tid = :tid */
  /*? AND name REGEXP :name */ /*?errors AND coalesce(result, 0) <> 0 */
  /*? AND duration >= :slower_than */
