-- Operators of PyTorch: their time on the host, what they called in HIP, and the time of the GPU for it
-- about: Recorded by -e ops, or taken from a trace of PyTorch's profiler (fade-query import FILE). total: with the
--   operators in it; self: outside of them. --by-line, --by-module, --by-shape and --by-thread add up by your own line,
--   nn.Module, arguments and kind of thread.
-- sort: -self_ns
-- limit: 40
-- leave: max_ns avg_ns hip_calls self_percent
-- variant: by_line operator_lines
-- variant: by_module operator_modules
-- variant: by_shape operator_shapes
-- variant: by_thread operator_threads
-- none: no operator was watched (-e ops), and no trace with operators was imported (fade-query import FILE)
-- question: work
-- topic: calls
-- record: -e all,ops
-- column: name          text      of the operator, with its overload if fade recorded it
-- column: n             count     how often
-- column: self_ns       net       time on the host outside operators in it, with calls of HIP
-- column: self_percent  percent   share of that in the time of all operators
-- column: total_ns      net       time on the host
-- column: avg_ns        net       of one
-- column: max_ns        duration  the longest
-- column: hip_calls     count     calls of HIP inside, at any depth; empty for imported operators, and if not every
--   call has a row
-- column: launches      count     of them put a kernel or graph to run
-- column: self_works    count     kernels, copies and fills that were put to run outside operators in it; empty as
--   hip_calls
-- column: self_gpu_ns   duration  time of these on the GPU; empty without --gpu-times
-- column: total_works   count     kernels, copies and fills that were put to run in it, at any depth
-- column: total_gpu_ns  duration  time of these on the GPU
WITH RECURSIVE function AS MATERIALIZED (
  SELECT id, name FROM functions WHERE "group" IN ('ops', 'ops-redispatch')
), stat AS MATERIALIZED (
  SELECT s.session, s.pid, s.name, s.function_id, s.parent_function_id, s.calls, s.total_ns, s.max_ns
  FROM call_stats s
  WHERE s.function_id IN (SELECT id FROM function) /*? AND s.session = :session */ /*? AND s.pid = :pid */
), inner_of AS MATERIALIZED (
  SELECT pid, parent_function_id AS function_id, sum(total_ns) AS ns FROM stat
  WHERE parent_function_id IS NOT NULL GROUP BY pid, parent_function_id
), sum_of AS (
  SELECT session, pid, function_id, name, sum(calls) AS n, sum(total_ns) AS total_ns, max(max_ns) AS max_ns
  FROM stat GROUP BY session, pid, function_id
), work AS MATERIALIZED (
  SELECT call, count(*) AS n, sum(duration) AS ns FROM gpu_work
  WHERE call IS NOT NULL AND kind <> 'barrier' AND EXISTS (SELECT 1 FROM function) GROUP BY call
), launcher AS MATERIALIZED (
  SELECT id FROM functions WHERE kind = 'launch' OR name GLOB 'hipGraphLaunch*'
), enclosing(call, function_id, hip, at, n, ns, met) AS (
  SELECT c.id, c.function_id, c.category = 'hip', c.parent_id, w.n, w.ns, 0
  FROM calls c LEFT JOIN work w ON w.call = c.id
  WHERE c.parent_id IS NOT NULL AND (c.category = 'hip' OR w.n > 0) AND EXISTS (SELECT 1 FROM function)
  UNION ALL
  SELECT e.call, e.function_id, e.hip, p.parent_id, e.n, e.ns, e.met + (p.function_id IN (SELECT id FROM function))
  FROM enclosing e CROSS JOIN calls p ON p.id = e.at
  WHERE p.parent_id IS NOT NULL
), once AS (  -- an operator in another one of the same name has its calls once
  SELECT c.pid, c.function_id, e.call, max(e.hip) AS hip, max(e.function_id IN (SELECT id FROM launcher)) AS launch,
    max(e.met = 0) AS own, max(e.n) AS n, max(e.ns) AS ns
  FROM enclosing e CROSS JOIN calls c ON c.id = e.at
  WHERE c.function_id IN (SELECT id FROM function) GROUP BY c.pid, c.function_id, e.call
), inside AS MATERIALIZED (
  SELECT pid, function_id, sum(hip) AS hip_calls, sum(launch) AS launches, sum(iif(own, n, NULL)) AS self_works,
    sum(iif(own, ns, NULL)) AS self_gpu_ns, sum(n) AS total_works, sum(ns) AS total_gpu_ns
  FROM once GROUP BY pid, function_id
), rows_kept AS MATERIALIZED (
  SELECT kept, kept AND EXISTS (SELECT 1 FROM gpu_work) AS timed
  FROM (SELECT EXISTS (SELECT 1 FROM calls)
               AND NOT EXISTS (SELECT 1 FROM watched WHERE topic = 'calls' AND NOT has_rows) AS kept)
), recorded AS (
  SELECT s.session, s.pid, s.name, s.n, max(s.total_ns - coalesce(o.ns, 0), 0) AS self_ns, s.total_ns, s.max_ns,
    iif(kept, coalesce(i.hip_calls, 0), NULL) AS hip_calls,
    iif(kept, coalesce(i.launches, 0), NULL) AS launches, iif(timed, coalesce(i.self_works, 0), NULL) AS self_works,
    iif(timed, coalesce(i.self_gpu_ns, 0), NULL) AS self_gpu_ns,
    iif(timed, coalesce(i.total_works, 0), NULL) AS total_works,
    iif(timed, coalesce(i.total_gpu_ns, 0), NULL) AS total_gpu_ns
  FROM sum_of s CROSS JOIN rows_kept
  LEFT JOIN inner_of o ON o.pid = s.pid AND o.function_id = s.function_id
  LEFT JOIN inside i ON i.pid = s.pid AND i.function_id = s.function_id
), outer_of(id, at, name, n, ns) AS (  -- of imported operators with works: those around them, with the innermost name
  SELECT id, id, name, works, gpu_ns FROM operators WHERE works > 0
  UNION ALL
  SELECT w.id, o.parent_id, w.name, w.n, w.ns FROM outer_of w CROSS JOIN operators o ON o.id = w.at
  WHERE o.parent_id IS NOT NULL
), imported_inside AS MATERIALIZED (
  SELECT process_id, name, sum(n) AS works, sum(ns) AS gpu_ns
  FROM (SELECT DISTINCT o.process_id, o.name, w.id, w.n, w.ns FROM outer_of w CROSS JOIN operators o ON o.id = w.at)
  GROUP BY process_id, name
), imported AS (
  SELECT s.session, s.pid, s.name, s.n, s.self_ns, s.total_ns, s.max_ns, NULL AS hip_calls, NULL AS launches,
    s.works AS self_works, s.gpu_ns AS self_gpu_ns, coalesce(i.works, 0) AS total_works,
    coalesce(i.gpu_ns, 0) AS total_gpu_ns
  FROM operator_stats s LEFT JOIN imported_inside i ON i.process_id = s.process_id AND i.name = s.name
  WHERE NOT EXISTS (SELECT 1 FROM stat r WHERE r.session = s.session AND r.pid = s.pid) -- fade's own calls win
    /*? AND s.session = :session */ /*? AND s.pid = :pid */
), every AS (SELECT * FROM recorded UNION ALL SELECT * FROM imported)
SELECT name, sum(n) AS n, sum(self_ns) AS self_ns,
       round(100.0 * sum(self_ns) / nullif((SELECT sum(self_ns) FROM every), 0), 2) AS self_percent,
       sum(total_ns) AS total_ns, sum(total_ns) / nullif(sum(n), 0) AS avg_ns, max(max_ns) AS max_ns,
       sum(hip_calls) AS hip_calls, sum(launches) AS launches, sum(self_works) AS self_works,
       sum(self_gpu_ns) AS self_gpu_ns, sum(total_works) AS total_works, sum(total_gpu_ns) AS total_gpu_ns
FROM every
WHERE true /*? AND name REGEXP :name */
GROUP BY name
