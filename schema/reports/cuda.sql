-- CUDA calls that ZLUDA answered: how long each took, how much of that was HIP
-- about: One row for each function of CUDA's driver API. What is neither in HIP nor at fade's stops is ZLUDA's own
--   work: translating arguments,
-- about: compiling kernels, answering by itself; a few microseconds of it for each HIP call inside are the kernel's
--   part of fade's stops.
-- about: Only HIP calls that were watched count: -e all,hot watches all. Where -e, --include or --exclude left HIP out,
--   its columns are empty.
-- sort: -total_ns
-- limit: 40
-- variant: errors cuda_errors
-- leave: library added_percent hip_calls errors without_hip fade_ns
-- none: no CUDA call was recorded: the program did not use ZLUDA
-- question: cuda
-- topic: cuda
-- column: name           text      function
-- column: calls          count     how often it was called
-- column: errors         count     calls whose result was not success
-- column: without_hip    count     calls that were answered without HIP: a constant, something remembered, or "not
--   supported"
-- column: hip_calls      count     HIP calls that it made
-- column: total_ns       net       time between entry and return, added up
-- column: hip_ns         net       of that, in HIP
-- column: fade_ns        duration  of that, at fade's stops for the HIP calls inside; nothing where their cost was
--   measured, as no time holds it then
-- column: added_ns       net       of that, in ZLUDA itself
-- column: added_percent  percent   share that ZLUDA added, without fade's stops
-- column: library        text      that answered: ZLUDA, or one in front of it (ZLUDA's trace library)
WITH stop AS MATERIALIZED (
  SELECT name, 1.0 * held_ns / nullif(calls, 0) AS ns
  FROM (SELECT name, sum(held_ns) AS held_ns FROM overhead GROUP BY name)
    JOIN (SELECT name, sum(calls) AS calls FROM call_stats GROUP BY name) USING (name)
  WHERE NOT EXISTS (SELECT 1 FROM call_costs WHERE calls > 0)  -- else no time holds them
), stat AS MATERIALIZED (
  SELECT function_id, parent_function_id, name, category, sum(calls) AS calls,
         sum(errors) AS errors, sum(total_ns) AS total_ns,
         sum(self_ns) AS self_ns, sum(leaf_calls) AS leaf_calls
  FROM call_stats
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  GROUP BY parent_function_id, function_id
), inside AS (
  SELECT parent_function_id AS id, sum(iif(category <> 'cuda', calls, 0)) AS calls,
         sum(iif(category <> 'cuda', total_ns, 0)) AS total_ns,
         sum(iif(category <> 'cuda', calls * coalesce(stop.ns, 0), 0)) AS fade_ns,
         sum(iif(category = 'cuda', total_ns, 0)) AS cuda_ns
  FROM stat LEFT JOIN stop USING (name) GROUP BY parent_function_id
), outer AS (
  SELECT function_id AS id, stat.name, library, sum(stat.calls) AS calls,
         sum(stat.errors) AS errors, sum(leaf_calls) AS leaf_calls, sum(total_ns) AS total_ns
  FROM stat JOIN functions ON functions.id = function_id WHERE category = 'cuda'
    /*? AND stat.name REGEXP :name */ GROUP BY function_id
), split AS (
  SELECT name, library, sum(outer.calls) AS calls, sum(errors) AS errors,
         sum(leaf_calls) AS without_hip, coalesce(sum(inside.calls), 0) AS hip_calls,
         sum(outer.total_ns) AS total_ns, min(sum(outer.total_ns), coalesce(sum(inside.total_ns), 0)) AS hip_ns,
         coalesce(sum(inside.cuda_ns), 0) AS cuda_ns, coalesce(sum(inside.fade_ns), 0) AS stops_ns
  FROM outer LEFT JOIN inside USING (id) GROUP BY name, library
), own AS (
  SELECT *, max(total_ns - hip_ns - cuda_ns, 0) AS self_ns,
         CAST(min(max(total_ns - hip_ns - cuda_ns, 0), stops_ns) AS INTEGER) AS fade_ns FROM split
)
SELECT name, calls, errors, iif(hip_known, without_hip, NULL) AS without_hip,
       iif(hip_known, hip_calls, NULL) AS hip_calls, total_ns,
       iif(hip_known, hip_ns, NULL) AS hip_ns, fade_ns, iif(hip_known, self_ns - fade_ns, NULL) AS added_ns,
       iif(hip_known, round(100.0 * (self_ns - fade_ns) / nullif(total_ns - fade_ns, 0), 1), NULL) AS added_percent,
       library
FROM own JOIN (SELECT NOT EXISTS (SELECT 1 FROM watched WHERE topic = 'hip'
                                     AND (narrowed GLOB '*events*' OR narrowed GLOB '*clude*')
                                                             /*? AND session = :session */) AS hip_known)
