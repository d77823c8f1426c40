-- Operators of PyTorch by your own line
-- about: Only calls whose stack was recorded have a line. By default that is the first call of each operator from each
--   place of the C++ code; fade-run --stacks all has all of them.
-- hidden: a variant of operators
-- sort: -self_ns
-- limit: 40
-- none: no call of an operator has a stack with a line
-- topic: calls
-- record: -e all,ops --stacks all
-- column: line      text   your own line: the innermost outside of packages (--skip-frames); empty: none is known
-- column: function  text   its function
-- column: name      text   of the operator
-- column: n         count  calls with a stack
-- column: self_ns   net    time of these without watched calls inside
-- column: total_ns  net    time of these
WITH mine AS MATERIALIZED (
  SELECT s.stack, s.name, s.calls, s.self_ns, s.total_ns
  FROM stack_stats s JOIN functions f ON f.id = s.function_id
  WHERE f."group" IN ('ops', 'ops-redispatch') /*? AND s.session = :session */ /*? AND s.name REGEXP :name */
), python AS MATERIALIZED (
  SELECT u.stack, u.file_line, u.function FROM user_lines u WHERE u.stack IN (SELECT stack FROM mine)
)
SELECT p.file_line AS line, p.function, m.name, sum(m.calls) AS n, sum(m.self_ns) AS self_ns,
       sum(m.total_ns) AS total_ns
FROM mine m LEFT JOIN python p ON p.stack = m.stack
GROUP BY p.file_line, p.function, m.name
