-- What each thread was doing when its process died or hung
-- hidden: the command postmortem shows it
-- leave: postmortem_id cause caller args last_call_end_ns last_call symbol calls pid call_start_ns place doing
-- column: postmortem_id     id        of the report postmortem
-- column: pid               id        process
-- column: tid               id        thread
-- column: name              text      of the thread
-- column: cause             yesno     whether it began with this thread
-- column: call              text      innermost call that was running
-- column: age_ns            duration  how long it had been running
-- column: call_start_ns     time      when it began
-- column: calls             text      all calls that were running, outermost first
-- column: args              text      arguments of the innermost
-- column: caller            text      where it was called from
-- column: doing             text      running, or the system call it was in
-- column: place             text      where in the code it stood
-- column: symbol            text      function around that place
-- column: earlier           text      calls that began before fade attached
-- column: last_call         text      last call that had ended
-- column: last_call_end_ns  time      when that ended
SELECT postmortem_id, pid, tid, name, cause, call, age_ns, call_start AS call_start_ns,
       calls, args, caller, doing, place, symbol, earlier, last_call, last_call_end AS last_call_end_ns
FROM postmortem_threads
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND tid = :tid */ /*? AND (name REGEXP :name OR call REGEXP :name) */
ORDER BY postmortem_id, cause DESC, age_ns IS NULL, age_ns DESC, earlier IS NULL, tid
