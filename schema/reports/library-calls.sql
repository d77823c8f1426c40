-- Calls of the libraries above HIP (rocBLAS, RCCL, MIOpen ...), and what they did with HIP
-- about: Groups comm, blas, dnn, fft, sparse, solver and rand of -e turn these functions on. A call of one library may
--   contain a call of another: both have the HIP calls, launches and time of the GPU inside.
-- sort: -total_ns
-- limit: 40
-- leave: max_ns pid errors library self_ns
-- none: no function of a library above HIP was watched
-- question: own
-- topic: calls
-- record: -e all,comm,blas,dnn
-- column: api        text      rocblas, hipblas, rccl, miopen ...
-- column: name       text      function
-- column: library    text      file of the function
-- column: pid        id        process
-- column: calls      count     calls of it
-- column: errors     count     of them failed
-- column: total_ns   net       time between entry and return
-- column: self_ns    net       the same without watched calls inside
-- column: percent    percent   share of the total time of all calls in this table that no other of them contains
-- column: max_ns     duration  the longest call
-- column: hip_calls  count     calls of HIP inside; those made directly if not every call has a row
-- column: launches   count     of them put a kernel or graph to run; empty without rows of calls
-- column: gpu_ns     duration  time of the GPU for work that calls inside put to run; empty without --gpu-times
WITH RECURSIVE function AS MATERIALIZED (
  SELECT function_id AS id, api, name, library FROM library_functions
), stat AS MATERIALIZED (
  SELECT s.session, s.pid, f.api, f.name, f.library, s.parent_function_id IN (SELECT id FROM function) AS inside,
    s.calls, s.errors, s.total_ns, s.self_ns, s.max_ns, s.function_id
  FROM call_stats s JOIN function f ON f.id = s.function_id
  WHERE true /*? AND s.session = :session */ /*? AND s.pid = :pid */ /*? AND s.name REGEXP :name */
    /*? AND instr(',' || :api || ',', ',' || s.category || ',') > 0 */
), sum_of AS (
  SELECT session, pid, api, name, library, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns,
    sum(self_ns) AS self_ns, max(max_ns) AS max_ns,
         max(function_id) AS function_id
  FROM stat GROUP BY session, pid, api, name, library
), work AS MATERIALIZED (
  SELECT call, sum(duration) AS ns FROM gpu_work WHERE call IS NOT NULL GROUP BY call
), enclosing(call, function_id, at, ns) AS (
  SELECT c.id, c.function_id, c.parent_id, w.ns FROM calls c LEFT JOIN work w ON w.call = c.id
  WHERE c.parent_id IS NOT NULL AND c.category = 'hip' AND EXISTS (SELECT 1 FROM function)
  UNION ALL
  SELECT e.call, e.function_id, p.parent_id, e.ns FROM enclosing e CROSS JOIN calls p ON p.id = e.at
    WHERE p.parent_id IS NOT NULL
), launcher AS MATERIALIZED (
  SELECT id FROM functions WHERE kind = 'launch' OR name GLOB 'hipGraphLaunch*'
), inside AS MATERIALIZED (
  SELECT c.pid, c.function_id, count(*) AS hip_calls, sum(e.function_id IN (SELECT id FROM launcher)) AS launches,
    sum(e.ns) AS gpu_ns
  FROM enclosing e CROSS JOIN calls c ON c.id = e.at
  WHERE c.function_id IN (SELECT id FROM function) GROUP BY c.pid, c.function_id
), direct AS MATERIALIZED (
  SELECT pid, parent_function_id AS function_id, sum(calls) AS hip_calls FROM call_stats WHERE category = 'hip'
    GROUP BY pid, parent_function_id
), rows_kept AS MATERIALIZED (
  SELECT EXISTS (SELECT 1 FROM calls)
         AND NOT EXISTS (SELECT 1 FROM watched WHERE topic = 'calls' AND NOT has_rows) AS kept
)
SELECT s.api, s.name, s.library, s.pid, s.calls, s.errors, s.total_ns, s.self_ns,
       round(100.0 * s.total_ns / nullif((SELECT sum(total_ns) FROM stat WHERE NOT coalesce(inside, 0)), 0),
         2) AS percent, s.max_ns,
       coalesce(iif(kept, coalesce(i.hip_calls, 0), d.hip_calls), 0) AS hip_calls,
         iif(kept, coalesce(i.launches, 0), NULL) AS launches, iif(kept, i.gpu_ns, NULL) AS gpu_ns
FROM sum_of s CROSS JOIN rows_kept
LEFT JOIN inside i ON i.pid = s.pid AND i.function_id = s.function_id
LEFT JOIN direct d ON d.pid = s.pid AND d.function_id = s.function_id
