-- Operators of PyTorch by the nn.Module whose forward() called them
-- about: A module is named by the functions called forward on the Python stack, from the outermost on. The name is that
--   of the class that defines forward, from Python 3.11 on. Only calls whose stack was recorded count: fade-run
--   --stacks all has all of them.
-- hidden: a variant of operators
-- sort: -self_ns
-- limit: 40
-- none: no call of an operator has a stack
-- topic: calls
-- record: -e all,ops --stacks all
-- column: module    text   classes from the outside in; empty: no forward is on the stack, as in backward
-- column: name      text   of the operator
-- column: n         count  calls with a stack
-- column: self_ns   net    time of these without watched calls inside
-- column: total_ns  net    time of these
WITH mine AS MATERIALIZED (
  SELECT s.stack, s.name, s.calls, s.self_ns, s.total_ns
  FROM stack_stats s JOIN functions f ON f.id = s.function_id
  WHERE f."group" IN ('ops', 'ops-redispatch') /*? AND s.session = :session */ /*? AND s.name REGEXP :name */
), forward AS MATERIALIZED (
  SELECT stack, depth, iif(function = 'forward', function, substr(function, 1, length(function) - 8)) AS class
  FROM stack_frames
  WHERE stack IN (SELECT stack FROM mine) AND kind = 'python' AND (function = 'forward' OR function GLOB '*?.forward')
), module AS MATERIALIZED (
  SELECT stack, group_concat(substr(class, 1 + length(rtrim(class, replace(class, '.', '')))), ' > ') AS path
  FROM (SELECT stack, class FROM forward ORDER BY stack, depth DESC) GROUP BY stack
)
SELECT d.path AS module, m.name, sum(m.calls) AS n, sum(m.self_ns) AS self_ns, sum(m.total_ns) AS total_ns
FROM mine m LEFT JOIN module d ON d.stack = m.stack
GROUP BY d.path, m.name
