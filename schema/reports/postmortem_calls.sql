-- Calls that were running, and the last ones of each thread, when a process died or hung
-- hidden: the command postmortem shows it
-- sort: call_id
-- leave: postmortem_id caller call_id pid result args
-- column: postmortem_id  id        of the report postmortem
-- column: call_id        id        of the call
-- column: pid            id        process
-- column: tid            id        thread
-- column: name           text      function
-- column: state          text      running, returned or unwound (left without returning)
-- column: start_ns       time      entry
-- column: duration_ns    duration  until it ended, or until the process was looked at
-- column: result         id        result
-- column: error          text      name of the result
-- column: args           text      arguments
-- column: caller         text      where it was called from
SELECT postmortem_id, call_id, pid, tid, name, state, start AS start_ns,
       duration AS duration_ns, result, result_name AS error, args, caller
FROM postmortem_calls
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND tid = :tid */ /*? AND name REGEXP :name */
