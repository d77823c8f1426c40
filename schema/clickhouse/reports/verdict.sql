-- Whether each process used the GPU, and if not, why
-- sort: working
-- limit: 64
-- leave: job evidence advice cpu_ns last_launch_ns first_launch_ns failed_launches command helper working
-- none: no process was sent
-- column: job             text      its job
-- column: host            text      its machine
-- column: pid              id        process
-- column: rank             count     of the process in a distributed job
-- column: verdict          text      as fade-query verdict says it
-- column: working          yesno     whether it used the GPU as it should
-- column: reason           text      why
-- column: command          command   of the process
-- column: evidence         text      what that rests on
-- column: advice           text      what to do
-- column: helper           yesno     a process that is not expected to use the GPU
-- column: launches         count     kernels and graphs launched
-- column: failed_launches  count     launches that failed
-- column: first_launch_ns  time      of those that succeeded
-- column: last_launch_ns   time      of those that succeeded
-- column: calls            count     watched calls
-- column: failures         count     of them failed, without those that are normal
-- column: cpu_ns           duration  CPU time of the process, as far as known
SELECT job, host, pid, rank, verdict, working, reason, command, evidence, advice, helper, launches, failed_launches,
  first_launch AS first_launch_ns, last_launch AS last_launch_ns, calls, failures, cpu_ns
FROM verdicts
WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND pid = :pid */
  /*? AND (match(ifNull(command, ''), :name) OR match(verdict, :name)) */
