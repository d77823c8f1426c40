-- Who calls whom: functions under the functions that called them
-- about: Adds up by pairs of caller and callee; a function that is called from several places stands under each of
--   them, and what stands
-- about: deeper counts for all of those places together.
-- tree: name
-- leave: api percent errors self_ns
-- none: no call was recorded
-- question: time
-- topic: calls
-- column: depth     count     0: called from outside any watched call
-- column: name      text      function
-- column: api       text      hip, hiprtc, cuda or user
-- column: calls     count     from this caller
-- column: errors    count     of these calls
-- column: total_ns  net       of these calls
-- column: self_ns   net       without watched calls inside
-- column: percent   percent   of the time of all outermost calls
WITH RECURSIVE edge AS MATERIALIZED (
  SELECT parent_function_id AS parent, function_id AS id, name, category AS api,
         sum(calls) AS calls, sum(errors) AS errors,
         sum(total_ns) AS total_ns, sum(self_ns) AS self_ns
  FROM call_stats
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND tid = :tid */
    /*? AND instr(',' || :api || ',', ',' || category || ',') > 0 */
  GROUP BY parent_function_id, function_id
), walk(depth, id, path, seen, name, api, calls, errors, total_ns, self_ns) AS (
  SELECT 0, id, printf('%020d', 9000000000000000000 - coalesce(total_ns, 0)) || id,
         ',' || id || ',', name, api, calls, errors, total_ns, self_ns
  FROM edge WHERE parent = 0 /*? AND name REGEXP :name */
  UNION ALL
  SELECT walk.depth + 1, edge.id,
         walk.path || ' ' || printf('%020d', 9000000000000000000 - coalesce(edge.total_ns, 0)) || edge.id,
         walk.seen || edge.id || ',', edge.name, edge.api, edge.calls, edge.errors, edge.total_ns, edge.self_ns
  FROM walk JOIN edge ON edge.parent = walk.id
  WHERE walk.depth < 16 AND instr(walk.seen, ',' || edge.id || ',') = 0
  ORDER BY 3 LIMIT 5000
)
SELECT depth, name, api, calls, errors, total_ns, self_ns,
       round(100.0 * total_ns / nullif((SELECT sum(total_ns) FROM walk WHERE depth = 0), 0), 2) AS percent
FROM walk
