-- Was the GPU really used? One row for each process, as figures
-- hidden: the command of that name shows it
-- sort: -working
-- leave: helper evidence advice failures calls failed_launches first_launch_ns last_launch_ns cpu_ns launches working
--   command
-- column: pid              id        process
-- column: rank             count     of the process in a distributed job
-- column: verdict          text      NOT_LOADED, LOADED_UNUSED, QUERIED_ONLY, ALLOCATED_NO_LAUNCH, USED, STOPPED_USING,
--   FAILED or UNWATCHED
-- column: working          yesno     whether it counts for the verdict of the recording: launchers and idle copies do
--   not
-- column: reason           text      why, in a sentence
-- column: command          command   command line
-- column: evidence         text      what that is known from
-- column: advice           text      what to do
-- column: helper           yesno     as in the report processes
-- column: launches         count     kernels and graphs launched
-- column: failed_launches  count     launches that failed
-- column: first_launch_ns  time      of those that succeeded
-- column: last_launch_ns   time      of those that succeeded
-- column: calls            count     watched calls
-- column: failures         count     of them failed, without those that are normal
-- column: cpu_ns           duration  CPU time of the process, as far as known
SELECT pid, (SELECT r.rank FROM process_ranks r WHERE r.process_id = v.process_id) AS rank, verdict, working, reason,
       command, evidence, advice, helper, launches, failed_launches, first_launch AS first_launch_ns,
       last_launch AS last_launch_ns, calls, failures, cpu_ns
FROM verdicts v
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND (command REGEXP :name OR verdict REGEXP :name) */
