-- Calls that multiply matrices, with their sizes.

-- Functions that multiply matrices, and those that ask for an algorithm for it. letter: the place of the type in the
-- name; else names of the parameters that have it. Without m the sizes are in layouts that were made before.
CREATE VIEW matrix_functions AS
WITH family(head, middles, ends, letter, m, n, k, batch, trans_a, trans_b, a, b, c, compute, ld_a, ld_b, ld_c) AS (
  VALUES
    ('rocblas_[sdhcz]gemm', '_', '_64', 9, 'm', 'n', 'k', 'batch_count', 'transA', 'transB', NULL, NULL, NULL, NULL,
     'lda', 'ldb', 'ldc'),
    ('rocblas_gemm', '_', '_ex', NULL, 'm', 'n', 'k', 'batch_count', 'transA', 'transB', 'a_type', 'b_type', 'd_type',
     'compute_type', 'lda', 'ldb', 'ldd'),
    ('hipblas[SDHCZ]gemm', 'B', '_v2', 8, 'm', 'n', 'k', 'batchCount', 'transA', 'transB', NULL, NULL, NULL, NULL,
     'lda', 'ldb', 'ldc'),
    ('hipblasGemm', 'B', 'Ex', NULL, 'm', 'n', 'k', 'batchCount', 'transA', 'transB', 'aType', 'bType', 'cType',
     'computeType', 'lda', 'ldb', 'ldc'),
    ('cublas[SDHCZ]gemm', 'B', '_v2', 7, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', NULL, NULL, NULL, NULL,
     'lda', 'ldb', 'ldc'),
    ('cublas[SDHCZ]gemm3m', 'B', '_v2', 7, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', NULL, NULL, NULL, NULL,
     'lda', 'ldb', 'ldc'),
    ('cublasGemm', 'B', 'Ex', NULL, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', 'Atype', 'Btype', 'Ctype',
     'computeType', 'lda', 'ldb', 'ldc'),
    ('cublas[SC]gemm', NULL, 'Ex', NULL, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', 'Atype', 'Btype', 'Ctype',
     NULL, 'lda', 'ldb', 'ldc'),
    ('cublasCgemm3m', NULL, 'Ex', NULL, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', 'Atype', 'Btype', 'Ctype',
     NULL, 'lda', 'ldb', 'ldc'),
    ('hipblasLtMatmul', NULL, 'Lt', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    ('cublasLtMatmul', NULL, 'Lt', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)),
middle(of, text) AS (
  VALUES
    (NULL, ''), ('_', ''), ('_', '_batched'), ('_', '_strided_batched'), ('B', ''), ('B', 'Batched'),
    ('B', 'StridedBatched')),
end_of(of, text) AS (
  VALUES
    ('_64', ''), ('_64', '_64'), ('_v2', ''), ('_v2', '_v2'), ('_v2', '_64'), ('_v2', '_v2_64'), ('_ex', '_ex'),
    ('_ex', '_ex_64'), ('_ex', '_ex3'), ('_ex', '_ex3_64'), ('Ex', 'Ex'), ('Ex', 'Ex_64'), ('Ex', 'Ex_v2'),
    ('Ex', 'Ex_v2_64'), ('Ex', 'ExWithFlags'), ('Ex', 'ExWithFlags_v2'), ('Ex', 'ExWithFlags_64'),
    ('Ex', 'ExWithFlags_v2_64'), ('Lt', ''), ('Lt', 'AlgoGetHeuristic'))
SELECT f.function_id, f.session, f.name, f.name GLOB '*Heuristic' AS asks, g.letter, g.m, g.n, g.k, g.batch, g.trans_a,
       g.trans_b, g.a, g.b, g.c, g.compute, g.ld_a, g.ld_b, g.ld_c
FROM library_functions f
JOIN family g ON f.name GLOB g.head || '*'
JOIN middle x ON x.of IS g.middles
JOIN end_of e ON e.of = g.ends AND f.name GLOB g.head || x.text || e.text
WHERE f."group" = 'blas';

-- The sizes of each call. Arguments are JSON without spaces, and a quote inside of a text has a backslash before it.
-- They are read by instr(), because fade-query lets no view of a file use SQLite's JSON functions.
CREATE VIEW matrix_calls AS
WITH product AS MATERIALIZED (  -- with the names as they stand in the arguments
  SELECT function_id, name, asks, letter, '"' || m || '":' AS m, '"' || n || '":' AS n,
         '"' || k || '":' AS k, '"' || batch || '":' AS batch, '"' || ld_a || '":' AS ld_a, '"' || ld_b || '":' AS ld_b,
         '"' || ld_c || '":' AS ld_c, '"' || trans_a || '":"' AS trans_a, '"' || trans_b || '":"' AS trans_b,
         '"' || a || '":"' AS a, '"' || b || '":"' AS b, '"' || c || '":"' AS c, '"' || compute || '":"' AS compute
  FROM matrix_functions),
told AS MATERIALIZED (  -- without such functions no call is read
  SELECT c.session, c.id, c.pid, c.thread_id, c.duration, c.function_id, c.failed, c.result_name, c.args,
         c.name GLOB '*blasLtMatmul*' AS by_layouts
  FROM (SELECT 1 FROM library_functions WHERE lower(name) GLOB '*gemm*' OR name GLOB '*LtMatmul*' LIMIT 1)
  CROSS JOIN calls c
  WHERE c.failed IS NOT NULL AND c.function_id IN (SELECT function_id FROM product)),
layout_function AS MATERIALIZED (
  SELECT function_id AS id, name GLOB '*Layout*' AS of_layout, name GLOB '*SetAttribute' AS sets
  FROM library_functions
  WHERE name GLOB '*blasLtMatrixLayoutCreate' OR name GLOB '*blasLtMatrixLayoutInit_internal'
    OR name GLOB '*blasLtMatmulDescCreate' OR name GLOB '*blasLtMatmulDescInit_internal'
    OR name GLOB '*blasLtMatrixLayoutSetAttribute' OR name GLOB '*blasLtMatmulDescSetAttribute'),
change AS MATERIALIZED (  -- of layouts and of descriptions of products; the texts from the value of a parameter on
  SELECT c.session, c.pid, c.id, f.of_layout, f.sets, c.args,
         substr(c.args, instr(c.args, iif(f.of_layout, '"matLayout":"', '"matmulDesc":"')) + 13 + NOT f.of_layout)
           AS handle,
         substr(c.args, nullif(instr(c.args, '"attr":"'), 0) + 8) AS attribute,
         lower(substr(c.args, nullif(instr(c.args, '"buf":"'), 0) + 7, 8)) AS hex,
         substr(c.args, nullif(instr(c.args, '"type":"'), 0) + 8) AS type, '0123456789abcdef' AS digits
  FROM (SELECT 1 FROM layout_function LIMIT 1)
  CROSS JOIN calls c
  JOIN layout_function f ON f.id = c.function_id
  WHERE c.failed = 0),
layout AS MATERIALIZED (
  SELECT id, substr(type, 1, instr(type, '"') - 1) AS type,
         CAST(substr(args, instr(args, '"rows":') + 7) AS INTEGER) AS rows,
         CAST(substr(args, instr(args, '"cols":') + 7) AS INTEGER) AS cols,
         CAST(substr(args, instr(args, '"ld":') + 5) AS INTEGER) AS ld
  FROM change
  WHERE of_layout AND NOT sets),
role(word, key) AS (
  VALUES
    ('a', '"Adesc":"'), ('b', '"Bdesc":"'), ('d', '"Ddesc":"'), ('op', '"matmulDesc":"'), ('op', '"computeDesc":"'),
    ('op', '"operationDesc":"')),
used AS (
  SELECT t.session, t.pid, t.id, r.word, substr(t.args, instr(t.args, r.key) + length(r.key)) AS handle
  FROM told t
  JOIN role r ON instr(t.args, r.key) > 0
  WHERE t.by_layouts),
attribute AS MATERIALIZED (  -- value: a number of four bytes in hexadecimal, the lowest first
  SELECT c.session, c.pid, c.id, c.handle, iif(c.sets, NULL, c.id) AS made,
         CASE
           WHEN NOT c.sets THEN NULL
           WHEN c.name GLOB '*_MATRIX_LAYOUT_BATCH_COUNT"*' THEN 'batch'
           WHEN c.name GLOB '*_MATMUL_DESC_TRANSA"*' THEN 'left'
           WHEN c.name GLOB '*_MATMUL_DESC_TRANSB"*' THEN 'right' END AS sort,
         (SELECT sum((16 * (instr(c.digits, substr(c.hex, 2 * b.n + 1, 1)) - 1)
                      + instr(c.digits, substr(c.hex, 2 * b.n + 2, 1)) - 1) << (8 * b.n))
          FROM (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) b) AS value
  FROM (SELECT *, substr(attribute, 1, instr(attribute, '"')) AS name FROM change) c),
event AS (  -- a handle is used again, so the last layout with it before a product holds; set_to: behind the call's id
  SELECT session, pid, substr(handle, 1, instr(handle, '"') - 1) AS handle, id, made, sort,
         iif(sort IS NULL, NULL,  -- transposed: 0, 1, 2 of cuBLAS, or 111, 112, 113
             printf('%020d', id)
             || coalesce(iif(sort = 'batch', value, 'OP_' || substr('NTC', value % 111 + 1, 1)), '')) AS set_to,
         NULL AS role
  FROM attribute
  UNION ALL
  SELECT session, pid, substr(handle, 1, instr(handle, '"') - 1), id, NULL, NULL, NULL, word FROM used),
matched AS (
  SELECT id, role, max(made) OVER one AS made, max(iif(sort = 'batch', set_to, NULL)) OVER one AS batch,
         max(iif(sort = 'left', set_to, NULL)) OVER one AS left_op,
         max(iif(sort = 'right', set_to, NULL)) OVER one AS right_op
  FROM event
  WINDOW one AS (PARTITION BY session, pid, handle ORDER BY id)),
shaped AS MATERIALIZED (  -- what was set before the layout was made is of another one with the same handle
  SELECT m.id, max(iif(m.role = 'a', l.type, NULL)) AS a, max(iif(m.role = 'b', l.type, NULL)) AS b,
         max(iif(m.role = 'd', l.type, NULL)) AS d, max(iif(m.role = 'a', l.ld, NULL)) AS ld_a,
         max(iif(m.role = 'b', l.ld, NULL)) AS ld_b, max(iif(m.role = 'd', l.ld, NULL)) AS ld_c,
         max(iif(m.role = 'd', l.rows, NULL)) AS m, max(iif(m.role = 'd', l.cols, NULL)) AS n,
         max(iif(m.role = 'a', l.rows * l.cols, NULL)) AS size_a,
         max(iif(m.role = 'd' AND CAST(substr(m.batch, 1, 20) AS INTEGER) > m.made,
                 CAST(nullif(substr(m.batch, 21), '') AS INTEGER), NULL)) AS batch,
         max(iif(m.role = 'op', m.made, NULL)) AS op,
         max(iif(m.role = 'op' AND CAST(substr(m.left_op, 1, 20) AS INTEGER) > m.made,
                 nullif(substr(m.left_op, 21), ''), NULL)) AS left_op,
         max(iif(m.role = 'op' AND CAST(substr(m.right_op, 1, 20) AS INTEGER) > m.made,
                 nullif(substr(m.right_op, 21), ''), NULL)) AS right_op
  FROM matched m
  LEFT JOIN layout l ON l.id = m.made
  WHERE m.role IS NOT NULL
  GROUP BY m.id),
read AS (
  SELECT t.*, p.name, p.asks, p.letter,
         iif(p.asks,
             CAST(substr(t.args, nullif(instr(t.args, '"returnAlgoCount":'), 0) + 18) AS INTEGER),
             NULL) AS answers,
         CAST(substr(t.args, nullif(instr(t.args, p.m), 0) + length(p.m)) AS INTEGER) AS m,
         CAST(substr(t.args, nullif(instr(t.args, p.n), 0) + length(p.n)) AS INTEGER) AS n,
         CAST(substr(t.args, nullif(instr(t.args, p.k), 0) + length(p.k)) AS INTEGER) AS k,
         CAST(substr(t.args, nullif(instr(t.args, p.batch), 0) + length(p.batch)) AS INTEGER) AS batch,
         CAST(substr(t.args, nullif(instr(t.args, p.ld_a), 0) + length(p.ld_a)) AS INTEGER) AS ld_a,
         CAST(substr(t.args, nullif(instr(t.args, p.ld_b), 0) + length(p.ld_b)) AS INTEGER) AS ld_b,
         CAST(substr(t.args, nullif(instr(t.args, p.ld_c), 0) + length(p.ld_c)) AS INTEGER) AS ld_c,
         substr(t.args, nullif(instr(t.args, p.trans_a), 0) + length(p.trans_a)) AS trans_a,
         substr(t.args, nullif(instr(t.args, p.trans_b), 0) + length(p.trans_b)) AS trans_b,
         substr(t.args, nullif(instr(t.args, p.a), 0) + length(p.a)) AS a,
         substr(t.args, nullif(instr(t.args, p.b), 0) + length(p.b)) AS b,
         coalesce(substr(t.args, nullif(instr(t.args, p.c), 0) + length(p.c)),
                  substr(t.args, nullif(instr(t.args, '"c_type":"'), 0) + 10)) AS c,
         substr(t.args, nullif(instr(t.args, p.compute), 0) + length(p.compute)) AS compute
  FROM told t
  JOIN product p ON p.function_id = t.function_id)
SELECT t.id AS call_id, t.session, t.pid, t.thread_id, t.function_id, t.name, t.duration, t.failed, t.asks, t.answers,
       t.result_name, coalesce(t.m, x.m) AS m, coalesce(t.n, x.n) AS n,
       coalesce(t.k, x.size_a / nullif(x.m, 0)) AS k, coalesce(t.batch, x.batch, 1) AS batch,
       coalesce(substr(t.trans_a, 1, instr(t.trans_a, '"') - 1),
                iif(x.op IS NULL, NULL, coalesce(x.left_op, 'OP_N'))) AS trans_a,
       coalesce(substr(t.trans_b, 1, instr(t.trans_b, '"') - 1),
                iif(x.op IS NULL, NULL, coalesce(x.right_op, 'OP_N'))) AS trans_b,
       coalesce(t.ld_a, x.ld_a) AS ld_a, coalesce(t.ld_b, x.ld_b) AS ld_b, coalesce(t.ld_c, x.ld_c) AS ld_c,
       coalesce(upper(substr(t.name, t.letter, 1)), substr(t.a, 1, instr(t.a, '"') - 1), x.a) AS a,
       coalesce(upper(substr(t.name, t.letter, 1)), substr(t.b, 1, instr(t.b, '"') - 1), x.b) AS b,
       coalesce(upper(substr(t.name, t.letter, 1)), substr(t.c, 1, instr(t.c, '"') - 1), x.d) AS c,
       substr(t.compute, 1, instr(t.compute, '"') - 1) AS compute
FROM read t
LEFT JOIN shaped x ON x.id = t.id;

-- What followed where hipBLASLt or cuBLASLt had no algorithm: the next product of that thread. used: its function, if
-- it is of another library and has the same sizes.
CREATE VIEW matrix_fallbacks AS
WITH nested AS MATERIALIZED (  -- products inside others
  SELECT DISTINCT n.call_id
  FROM library_nesting n
  CROSS JOIN call_ o ON o.id = n.outer_id
  WHERE o.fn IN (SELECT function_id FROM matrix_functions)),
followed AS (
  SELECT p.*, lead(p.call_id) OVER one AS next_id, lead(p.name) OVER one AS next_name,
         lead(p.failed) OVER one AS next_failed,
         lead(p.m) OVER one AS next_m, lead(p.n) OVER one AS next_n, lead(p.k) OVER one AS next_k,
         lead(p.batch) OVER one AS next_batch
  FROM matrix_calls p
  WHERE p.call_id NOT IN (SELECT call_id FROM nested)
  WINDOW one AS (PARTITION BY p.thread_id ORDER BY p.call_id)),
asked AS (
  SELECT *, next_name NOT GLOB '*blasLt*' AND NOT next_failed AND next_m = m AND next_n = n AND next_k = k
         AND next_batch = batch AS is_taken
  FROM followed
  WHERE name GLOB '*blasLt*' AND (failed OR (asks AND answers = 0)))
SELECT call_id, session, pid, function_id, name, coalesce(result_name, 'no algorithm') AS answer, m, n, k, batch,
       a AS type, iif(is_taken, next_id, NULL) AS used_id, iif(is_taken, next_name, NULL) AS used
FROM asked;
