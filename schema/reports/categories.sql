-- Calls by category: devices, memory, copies, kernels ...
-- about: The category of a function is the same as in fade-query export. ERROR are calls that ask for errors; failed
--   calls are counted in errors.
-- sort: -self_ns
-- leave: self_ns
-- none: no call was recorded
-- question: time
-- topic: calls
-- column: category  text      DEVICE, MEMORY, COPY, STREAM, SYNC, KERNEL, MODULE, GRAPH, COMPILE, ERROR, MARKER,
--   REDIRECT, COMM, BLAS, DNN, FFT, SPARSE, SOLVER, RAND, LOADS, DRIVER or OTHER
-- column: calls     count     how many
-- column: errors    count     calls whose result was not success
-- column: self_ns   net       time in them, without watched calls inside
-- column: percent   percent   share of all that time
SELECT c.category, sum(s.calls) AS calls, sum(s.errors) AS errors, sum(s.self_ns) AS self_ns,
       round(100.0 * sum(s.self_ns) / nullif(sum(sum(s.self_ns)) OVER (), 0), 2) AS percent
FROM call_stats s JOIN function_categories c ON c.function_id = s.function_id
WHERE true /*? AND s.session = :session */ /*? AND s.pid = :pid */
    /*? AND (s.session, s.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND s.tid = :tid */
  /*? AND s.name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || s.category || ',') > 0 */
GROUP BY c.category
