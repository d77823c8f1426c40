-- Jobs: when they ran, on how many ranks and machines, and how many ranks failed
-- about: A job is what fade-query push --job named, else the job of the environment, else a recording of its own.
-- sort: -started
-- limit: 30
-- leave: launches recordings world_size going_on command
-- none: no recording was sent to this server: fade-query push
-- column: job          text      fade-query --job takes it
-- column: started      text      begin of its first recording, in UTC
-- column: duration_ns  duration  to the end of its last one, as far as it was sent
-- column: ranks        count     that were recorded
-- column: world_size   count     how many ranks it has, as its environment says
-- column: hosts        count     machines
-- column: recordings   count     sessions of files
-- column: failed       count     recordings whose first process ended with a status or by a signal
-- column: going_on     count     recordings that are not closed: they go on, or fade was killed
-- column: calls        count     watched calls
-- column: errors       count     of them failed
-- column: launches     count     of kernels and graphs
-- column: used         text      whether all of them used the GPU, some, or none
-- column: command      command   of one of its processes
SELECT job, toString(toDateTime(intDiv(min(start_ns), 1000000000), 'UTC')) AS started,
  max(start_ns + ifNull(duration, 0)) - min(start_ns) AS duration_ns, sum(ranks) AS ranks,
    max(world_size) AS world_size,
  uniqExact(host) AS hosts, count() AS recordings, countIf(exit_code > 0 OR exit_signal > 0) AS failed,
  countIf(closed = 0) AS going_on, sum(calls) AS calls, sum(errors) AS errors, sum(launches) AS launches,
  multiIf(countIf(verdict = 'USED') = count(), 'all', countIf(verdict = 'USED') > 0, 'some', 'none') AS used,
  any(command) AS command
FROM recordings
WHERE 1 /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */ /*? AND match(command, :name) */
GROUP BY job
