-- Products and convolutions that a library had no algorithm for, and what the thread computed instead
-- about: From the arguments of hipBLASLt, cuBLASLt and the libraries beside them (-e all,blas). The answer none of a
--   question for an algorithm, or a product that failed; then the next product of the same thread. It says only what
--   was seen: why the library had none is not in its answer.
-- about: Convolutions are those of MIOpen (-e all,dnn). A question for solutions or a find was answered with none, or a
--   call failed. Or a find got less workspace than MIOpen had named just before. Then the next convolution of the same
--   thread, if direction and sizes are the same. A find with less workspace may have found the same algorithm: that is
--   not seen.
-- sort: -asked
-- limit: 40
-- leave: pid batch first_ns input filter
-- none: no product or convolution for which a library had no algorithm is in the recording
-- question: work
-- topic: calls
-- rows: of single calls
-- record: -e all,blas,dnn
-- column: name       text   function that gave no algorithm, or failed, or got less workspace
-- column: pid        id     process
-- column: m          count  rows of the result; empty: a convolution
-- column: n          count  columns of the result
-- column: k          count  columns of the left matrix, and rows of the right one
-- column: batch      count  products of one call
-- column: type       text   elements of the left matrix, or of the input
-- column: answer     text   no algorithm, no solution, the error, or the workspace in bytes
-- column: asked      count  calls with this answer
-- column: used       text   function that computed the same sizes next, with its algorithm or solution if it is a
--   convolution; empty: none did, or they had other sizes
-- column: followed   count  how often it did
-- column: first_ns   time   the first of these calls
-- column: input      text   of a convolution: images, channels, then the size of an image (x)
-- column: filter     text   of a convolution: output channels, input channels of a group, then the size of the filter
--   (w)
WITH step AS MATERIALIZED (
  SELECT function_id AS id, name, CASE WHEN name GLOB 'miopenFind*' THEN 'finds' WHEN name GLOB '*GetSolution*'
      THEN 'asks' WHEN name GLOB '*CompileSolution' THEN 'compiles' WHEN name GLOB '*GetWorkSpaceSize' THEN 'sizes'
      ELSE 'does' END AS does,
    CASE WHEN name GLOB '*Forward*' THEN 1 WHEN name GLOB '*BackwardData*' THEN 2 ELSE 4 END AS way
  FROM library_functions WHERE name REGEXP '^miopen(Find)?Convolution(Forward|BackwardData|BackwardWeights)'
    || '(Algorithm|Immediate|CompileSolution|GetSolution(Count)?|GetWorkSpaceSize)?$'
), setter AS MATERIALIZED (
  SELECT function_id AS id FROM library_functions
  WHERE name REGEXP '^miopenSet(4d|Nd)?TensorDescriptor(Ex|V2|WithLayout)?$'
), called AS MATERIALIZED (  -- without such functions no call is read
  SELECT c.session, c.pid, c.thread_id AS thread, c.id, c.start, f.name, f.does, f.way, c.failed, c.result_name,
    coalesce(json_extract(c.args, '$.xDesc'), json_extract(c.args, '$.dxDesc')) AS x,
    coalesce(json_extract(c.args, '$.wDesc'), json_extract(c.args, '$.dwDesc')) AS w,
    coalesce(json_extract(c.args, '$.yDesc'), json_extract(c.args, '$.dyDesc')) AS y,
    coalesce(json_extract(c.args, '$.solutionCount'), json_extract(c.args, '$.returnedAlgoCount')) AS found,
    coalesce(json_extract(c.args, '$.workSpaceSize'), 0) AS workspace,
    coalesce(json_extract(c.args, '$.algo'), 'solution ' || json_extract(c.args, '$.solution_id')) AS algorithm
  FROM (SELECT 1 FROM step LIMIT 1) CROSS JOIN calls c JOIN step f ON f.id = c.function_id WHERE c.failed IS NOT NULL
), outer_one AS MATERIALIZED (
  SELECT * FROM called WHERE id NOT IN (SELECT call_id FROM library_nesting WHERE call_id IN (SELECT id FROM called)
    AND outer_id IN (SELECT id FROM called))
), made AS MATERIALIZED (
  SELECT c.session, c.pid, c.id, json_extract(c.args, '$.tensorDesc') AS handle,
    json_remove(c.args, '$.tensorDesc') AS facts
  FROM (SELECT 1 FROM step LIMIT 1) CROSS JOIN calls c WHERE c.function_id IN (SELECT id FROM setter) AND c.failed = 0
), event AS (  -- a handle is used again, so the last call about it holds
  SELECT session, pid, handle, id, id AS made, NULL AS role FROM made
  UNION ALL SELECT session, pid, x, id, NULL, 'x' FROM outer_one
  UNION ALL SELECT session, pid, w, id, NULL, 'w' FROM outer_one
), matched AS (
  SELECT id, role, max(made) OVER (PARTITION BY session, pid, handle ORDER BY id) AS made FROM event
  WHERE handle IS NOT NULL
), shaped AS MATERIALIZED (
  SELECT o.*, x.facts AS input, w.facts AS filter FROM outer_one o
  LEFT JOIN (SELECT id, max(iif(role = 'x', made, NULL)) AS x, max(iif(role = 'w', made, NULL)) AS w FROM matched
    WHERE role IS NOT NULL GROUP BY id) m ON m.id = o.id
  LEFT JOIN made x ON x.id = m.x LEFT JOIN made w ON w.id = m.w
), placed AS (
  SELECT *, min(iif(does = 'does', id, NULL)) OVER (later ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS next_id,
    iif(lag(does) OVER later = 'sizes' AND lag(failed) OVER later = 0 AND (lag(way) OVER later, lag(x) OVER later,
      lag(w) OVER later, lag(y) OVER later) = (way, x, w, y), lag(workspace) OVER later, 0) AS wanted
  FROM shaped WINDOW later AS (PARTITION BY session, thread ORDER BY id)
), refused AS MATERIALIZED (
  SELECT *, CASE WHEN failed THEN coalesce(result_name, 'failed') WHEN does = 'asks' THEN 'no solution'
      WHEN found = 0 THEN 'no algorithm' ELSE printf('workspace %d of %d', workspace, wanted) END AS answer
  FROM placed WHERE (failed AND does <> 'sizes') OR (does IN ('asks', 'finds') AND found = 0)
    OR (does = 'finds' AND workspace < wanted)
), taken AS (
  SELECT r.*, iif(NOT n.failed AND n.way = r.way AND n.input = r.input AND n.filter = r.filter,
    n.name || coalesce(', ' || iif(n.algorithm GLOB '*Algo*', substr(n.algorithm, instr(n.algorithm, 'Algo') + 4),
      n.algorithm), ''), NULL) AS used
  FROM refused r LEFT JOIN shaped n ON n.id = r.next_id
), tensor(facts, type, dims) AS MATERIALIZED (
  SELECT facts, json_extract(facts, '$.dataType'), replace(trim(coalesce(json_extract(facts, '$.dimsA'),
    json_extract(facts, '$.lens'), json_array(json_extract(facts, '$.n'), json_extract(facts, '$.c'),
    json_extract(facts, '$.h'), json_extract(facts, '$.w'))), '[]'), ',', 'x')
  FROM (SELECT input AS facts FROM refused UNION SELECT filter FROM refused) WHERE facts IS NOT NULL
)
SELECT b.name, b.pid, b.m, b.n, b.k, b.batch, coalesce(e.type, b.type) AS type, b.answer, count(*) AS asked, b.used,
  count(b.used) AS followed, min(c.start) AS first_ns, NULL AS input, NULL AS filter
FROM matrix_fallbacks b CROSS JOIN calls c ON c.id = b.call_id LEFT JOIN element_types e ON e.word = b.type
WHERE true /*? AND b.session = :session */ /*? AND b.pid = :pid */ /*? AND b.name REGEXP :name */
GROUP BY b.session, b.name, b.pid, b.m, b.n, b.k, b.batch, b.type, b.answer, b.used
UNION ALL
SELECT t.name, t.pid, NULL, NULL, NULL, NULL, coalesce(e.type, x.type), t.answer, count(*), t.used, count(t.used),
  min(t.start), x.dims, w.dims
FROM taken t LEFT JOIN tensor x ON x.facts = t.input LEFT JOIN tensor w ON w.facts = t.filter
LEFT JOIN element_types e ON e.word = x.type
WHERE true /*? AND t.session = :session */ /*? AND t.pid = :pid */ /*? AND t.name REGEXP :name */
GROUP BY t.session, t.name, t.pid, x.dims, w.dims, x.type, t.answer, t.used
