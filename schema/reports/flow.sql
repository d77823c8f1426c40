-- Calls inside of other calls, by API, and their cost
-- about: One row for each pair of caller and callee, for example CUDA (ZLUDA) calling HIP, hiprtc calling HIP, or a
--   function of your own.
-- sort: -total_ns
-- limit: 40
-- leave: added_ns calls_per_caller caller_api callee_api
-- none: no watched call made another watched call
-- question: cuda
-- topic: calls
-- column: caller_api        text      API of the caller
-- column: caller            text      the function that calls
-- column: callee_api        text      API of the callee
-- column: callee            text      the function that is called
-- column: calls             count     how often the caller called it
-- column: calls_per_caller  number    for each call of the caller
-- column: total_ns          net       time in the callee
-- column: added_ns          net       the caller's own time, outside of watched calls
WITH stat AS MATERIALIZED (
  SELECT function_id, parent_function_id, name, category, sum(calls) AS calls,
         sum(total_ns) AS total_ns, sum(self_ns) AS self_ns
  FROM call_stats
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
  GROUP BY parent_function_id, function_id
), whole AS MATERIALIZED (
  SELECT function_id, name, category, sum(calls) AS calls, sum(self_ns) AS self_ns FROM stat GROUP BY function_id
)
SELECT whole.category AS caller_api, whole.name AS caller, stat.category AS callee_api, stat.name AS callee, stat.calls,
       round(1.0 * stat.calls / nullif(whole.calls, 0), 3) AS calls_per_caller, stat.total_ns, whole.self_ns AS added_ns
FROM stat JOIN whole ON whole.function_id = stat.parent_function_id
WHERE true /*? AND (stat.name REGEXP :name OR whole.name REGEXP :name) */
  /*? AND instr(',' || :api || ',', ',' || stat.category || ',') > 0 */
