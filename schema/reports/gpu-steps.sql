-- Steps of the program (fade-run --step) with the work of the GPU that they put to run
-- about: Work belongs to the step whose calls put it to run, also if it ran later. busy_percent may be above 100 if a
--   step ran ahead of the GPU.
-- sort: start_ns
-- limit: 40
-- leave: pid complete tid start_ns works gpu_ns
-- none: no step has work of a GPU with a time (steps come from --step 'range:NAME', or --step FUNCTION that is called
--   once in each)
-- question: time
-- topic: kernels
-- record: --gpu-times --step 'range:*'
-- column: step          count     counts from 1 in each thread
-- column: name          text      the range, or the function between whose calls it lies
-- column: pid           id        process
-- column: tid           id        thread that makes the steps
-- column: start_ns      time      when it began
-- column: duration_ns   duration  how long it took
-- column: complete      yesno     the program ended it
-- column: works         count     kernels, copies and fills
-- column: gpu_ns        duration  their time, added up
-- column: busy_ns       duration  their time, without counting a moment twice
-- column: busy_percent  percent   of the step's duration
SELECT idx AS step, name, pid, tid, start AS start_ns, duration AS duration_ns, complete, works, gpu_ns, busy_ns,
       round(100.0 * busy_ns / nullif(duration, 0), 2) AS busy_percent
FROM gpu_steps
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND tid = :tid */ /*? AND name REGEXP :name */
  /*? AND start >= :from */ /*? AND start < :to */
