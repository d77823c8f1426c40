-- Steps of the program (fade-run --step): how long each took, and what was done in it
-- about: A step is slow if it took over 1.5 times the median of its thread's three or more steps. --slow says what
--   differed in slow steps.
-- sort: start_ns
-- limit: 40
-- variant: slow step_diff
-- variant: merge steps_merged
-- leave: pid complete errors copies copied_bytes growth_bytes tid calls start_ns
-- none: no steps were recorded
-- question: time
-- topic: calls
-- record: --step 'range:*'
-- column: step          count     counts from 1 in each thread
-- column: name          text      the range, or the function between whose calls it lies
-- column: rank          count     of the process in a distributed job
-- column: pid           id        process
-- column: tid           id        thread that makes the steps
-- column: start_ns      time      when it began
-- column: duration_ns   duration  how long it took
-- column: vs_median     number    that by the median of its thread
-- column: slow          yesno     took more than 1.5 times the median
-- column: complete      yesno     the program ended it: others do not count for the median
-- column: calls         count     calls that returned in it
-- column: launches      count     kernels and graphs
-- column: copies        count     copies
-- column: copied_bytes  bytes     size of all of them
-- column: growth_bytes  bytes     GPU memory held at its end more than at its begin
-- column: waited_ns     net       in calls that wait for the GPU, of all its threads: may be more than the step took
-- column: errors        count     calls that failed
SELECT idx AS step, name, rank, pid, tid, start AS start_ns, duration AS duration_ns,
       vs_median, slow, complete, calls, launches, copies, copied_bytes, growth_bytes, waited_ns, errors
FROM steps
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND tid = :tid */ /*? AND name REGEXP :name */
  /*? AND start >= :from */ /*? AND start < :to */
