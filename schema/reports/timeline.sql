-- Every call in order of entry, for the timelines of trace viewers
-- hidden: export --format perfetto, chrome and kineto read it
-- page: id
-- column: id           id        of the call
-- column: start        time      entry
-- column: end          time      return, or when it was left; empty where neither is known
-- column: thread_id    id        of the thread
-- column: function_id  id        of the function
-- column: state        text      returned, unwound, open, entry only or unseen
-- column: result       text      name of a result other than 0, else the result
-- column: failed       yesno     the result means failure
-- column: args         json      arguments
-- column: caller_id    id        of the place that called
-- column: launch_id    id        of the way of launching
-- column: stack        id        of its stack
SELECT id, start, CASE state WHEN 'unwound' THEN (SELECT u.ts_end FROM unwound_ u WHERE u.call = calls.id)
           ELSE start + duration END AS "end",
       thread_id, function_id, state, coalesce(result_name, nullif(result, 0)) AS result,
       failed, args, caller_id, launch_id, stack
FROM calls
WHERE true /*? AND start >= :from */ /*? AND start < :to */
  /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  /*? AND name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
  /*?errors AND failed = 1 */ /*? AND duration >= :slower_than */
  /*?unfinished AND state IN ('open', 'unwound') */
