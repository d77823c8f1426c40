-- Matrix products that were computed again on the processor: those that differ first
-- about: Each row is a function, line and shape. An element differs if it is further from the computed value than atol
--   + rtol x the sum of the magnitudes that were added. fade-check-blas replay FOLDER computes a dumped product again.
-- sort: outcome
-- limit: 40
-- leave: caller problem ops pid held_ns worst allowed
-- none: no matrix product was checked
-- question: work
-- topic: kernels
-- record: --check blas
-- column: outcome   text  differs, not compared, not checked, or same
-- column: name      text  function that was called
-- column: user_line text  your own line of the first such call; empty: none is known
-- column: type      text  type of the result's elements
-- column: ops       text  operations on A and B: N, T or C
-- column: m         count rows of the result
-- column: n         count columns of the result
-- column: k         count length of the sums
-- column: checks    count products that were computed again, or not checked
-- column: elements  count their elements
-- column: differing count elements that differ
-- column: shown     text  the first elements that differ, [row,column] from 0
-- column: folder    text  the first product of these as .npy files: fade-check-blas replay FOLDER
-- column: worst     number the greatest difference
-- column: allowed   number what was allowed there
-- column: held_ns   time  for so long threads were held to fetch matrices
-- column: problem   text  why nothing was checked or compared
-- column: caller    text  who called
-- column: call_id   id    the first such call
-- column: pid       id    process
SELECT c.outcome, c.name, (SELECT u.user_line FROM user_lines u WHERE u.stack = c.stack) AS user_line, c.type, c.ops,
  c.m, c.n, c.k, count(*) AS checks, sum(c.elements) AS elements, sum(c.differing) AS differing, c.shown,
  min(c.folder) AS folder, max(c.worst) AS worst, c.allowed, sum(c.held) AS held_ns, c.problem,
  coalesce(r.symbol, r.library) AS caller, min(c.call_id) AS call_id, c.pid
FROM blas_checks c
LEFT JOIN callers r ON r.id = c.caller_id
WHERE true /*? AND c.session = :session */ /*? AND c.pid = :pid */ /*? AND c.tid = :tid */
    /*? AND (c.session, c.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND c.name REGEXP :name */
GROUP BY c.process_id, c.outcome, c.name, c.stack, c.caller_id, c.type, c.ops, c.m, c.n, c.k, c.problem
UNION ALL
SELECT 'not checked', x.name, NULL, NULL, NULL, NULL, NULL, NULL, x.calls, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  x.reason, NULL, NULL, x.pid
FROM blas_unchecked x
WHERE true /*? AND x.session = :session */ /*? AND x.pid = :pid */
    /*? AND (x.session, x.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND x.name REGEXP :name */
