-- Matrix products by shape: calls, FLOPs, and the rate that the GPU reached
-- about: From the arguments of rocBLAS, hipBLAS, hipBLASLt and cuBLAS (-e all,blas). A product of one library inside a product of another counts once, as the outer one. A product is 2 m n k operations for each element of the batch, 8 m n k of complex numbers. Grouped products of cuBLAS are left out, because their shapes are in memory, and cublasUint8gemmBias.
-- about: -e blas without all records no launches, so the columns of the GPU's time stay empty. Types of complex numbers are named as numpy does: c64 has two f32.
-- sort: -flops
-- limit: 40
-- leave: ld pid bytes trans percent total_ns flops gpu_ns batch peak_percent gb_per_s
-- none: no matrix product was recorded
-- question: work
-- topic: kernels
-- rows: of single calls
-- record: -e all,blas
-- column: name          text      function
-- column: pid           id        process
-- column: m             count     rows of the result
-- column: n             count     columns of the result
-- column: k             count     columns of the left matrix, and rows of the right one
-- column: batch         count     products of one call
-- column: types         text      elements of the left, right and resulting matrix, if they differ; then the type that is computed in
-- column: trans         text      N, T or C: whether the left and the right matrix are transposed
-- column: ld            text      leading dimensions of the left, right and resulting matrix
-- column: calls         count     successful calls with this shape
-- column: total_ns      net       time of these calls on the host
-- column: flops         number    operations of all calls
-- column: percent       percent   share of the operations of all products
-- column: bytes         bytes     of the three matrices, each moved once, for all calls
-- column: gpu_ns        duration  time of the GPU for work that the calls put to run; empty without --gpu-times
-- column: tflops        number    operations by time of the GPU, 1e12 in a second
-- column: peak_percent  percent   of the highest rate of the card for this type, with matrix units if it has any, at the highest clock; empty: not known
-- column: gb_per_s      number    bytes by time of the GPU
WITH family(pattern, letter, m, n, k, batch, trans_a, trans_b, a, b, c, compute, ld_a, ld_b, ld_c) AS (
  VALUES  -- letter: the place of the type in the name; else names of the parameters that have it
    ('^rocblas_[sdhcz]gemm(_strided)?(_batched)?(_64)?$', 9, 'm', 'n', 'k', 'batch_count', 'transA', 'transB', NULL,
    NULL, NULL, NULL, 'lda', 'ldb', 'ldc'),
    ('^rocblas_gemm(_strided)?(_batched)?_ex3?(_64)?$', NULL, 'm', 'n', 'k', 'batch_count', 'transA', 'transB',
    'a_type', 'b_type', 'd_type', 'compute_type', 'lda', 'ldb', 'ldd'),
    ('^hipblas[SDHCZ]gemm(Strided)?(Batched)?(_v2)?(_64)?$', 8, 'm', 'n', 'k', 'batchCount', 'transA', 'transB', NULL,
    NULL, NULL, NULL, 'lda', 'ldb', 'ldc'),
    ('^hipblasGemm(Strided)?(Batched)?Ex(WithFlags)?(_v2)?(_64)?$', NULL, 'm', 'n', 'k', 'batchCount', 'transA',
    'transB', 'aType', 'bType', 'cType', 'computeType', 'lda', 'ldb', 'ldc'),
    ('^cublas[SDHCZ]gemm(3m)?(Strided)?(Batched)?(_v2)?(_64)?$', 7, 'm', 'n', 'k', 'batchCount', 'transa', 'transb',
    NULL, NULL, NULL, NULL, 'lda', 'ldb', 'ldc'),
    ('^cublasGemm(Strided)?(Batched)?Ex(_64)?$', NULL, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', 'Atype',
    'Btype', 'Ctype', 'computeType', 'lda', 'ldb', 'ldc'),
    ('^cublas([SC]gemm|Cgemm3m)Ex(_64)?$', NULL, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', 'Atype', 'Btype',
    'Ctype', NULL, 'lda', 'ldb', 'ldc'),
    ('^(hip|cu)blasLtMatmul$', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
), product AS MATERIALIZED (
  SELECT f.id, f.name, g.*, g.m IS NULL AS by_layouts FROM functions f JOIN family g ON f.name REGEXP g.pattern
    WHERE f."group" = 'blas'
), told AS MATERIALIZED (
  SELECT c.session, c.id, c.pid, c.parent_id, c.duration, c.function_id
  -- without such functions no call is read
  FROM (SELECT 1 FROM product LIMIT 1) CROSS JOIN calls c WHERE c.failed = 0
    AND c.function_id IN (SELECT id FROM product)
), nested AS MATERIALIZED (
  SELECT call_id AS id FROM library_nesting
  WHERE call_id IN (SELECT id FROM told) AND outer_id IN (SELECT id FROM told)
), chosen AS (  -- facts: of a product with layouts, the handles of the layouts
  SELECT t.session, t.id, t.pid, t.duration, t.function_id,
         iif(p.by_layouts, json_extract(c.args, '$.Adesc', '$.Bdesc', '$.Ddesc'),
             json_extract(c.args, '$.' || p.m, '$.' || p.n, '$.' || p.k, '$.' || p.batch, '$.' || p.trans_a,
               '$.' || p.trans_b, '$.' || p.ld_a, '$.' || p.ld_b, '$.' || p.ld_c,
                          '$.' || coalesce(p.a, '-'), '$.' || coalesce(p.b, '-'), '$.' || coalesce(p.c, '-'),
                            '$.c_type', '$.' || coalesce(p.compute, '-'))) AS facts
  FROM told t JOIN product p ON p.id = t.function_id JOIN calls c ON c.id = t.id
  WHERE t.id NOT IN (SELECT id FROM nested) /*? AND t.session = :session */ /*? AND t.pid = :pid */
    /*? AND p.name REGEXP :name */
), spent AS MATERIALIZED (
  SELECT call_id, gpu_ns, device FROM library_work WHERE call_id IN (SELECT id FROM told)
), plain AS MATERIALIZED (  -- arguments of equal calls are unpacked once
  SELECT x.session, x.pid, x.function_id, x.facts, count(*) AS calls, sum(x.duration) AS duration,
    count(s.gpu_ns) AS timed, sum(s.gpu_ns) AS gpu_ns, max(s.device) AS device
  FROM chosen x LEFT JOIN spent s ON s.call_id = x.id
  WHERE x.function_id IN (SELECT id FROM product WHERE NOT by_layouts) GROUP BY x.session, x.pid, x.function_id, x.facts
), layout AS MATERIALIZED (  -- of hipBLASLt and cuBLASLt
  SELECT c.session, c.pid, c.id, json_extract(c.args, '$.matLayout') AS handle,
    json_extract(c.args, '$.type', '$.rows', '$.cols', '$.ld') AS facts
  FROM (SELECT 1 FROM product WHERE by_layouts LIMIT 1) CROSS JOIN calls c
  WHERE c.failed = 0 AND c.function_id IN (SELECT id FROM functions WHERE "group" = 'blas'
    AND name REGEXP '^(hip|cu)blasLt(MatrixLayoutCreate|MatrixLayoutInit_internal)$')
), batched AS MATERIALIZED (  -- a number of four bytes in hexadecimal, the lowest first
  SELECT session, pid, id, handle, 16 * (instr(digits, substr(hex, 1, 1)) - 1) + instr(digits,
    substr(hex, 2, 1)) - 1 + ((16 * (instr(digits, substr(hex, 3, 1)) - 1) + instr(digits, substr(hex, 4, 1)) - 1) << 8)
           + ((16 * (instr(digits, substr(hex, 5, 1)) - 1) + instr(digits,
             substr(hex, 6, 1)) - 1) << 16) + ((16 * (instr(digits, substr(hex, 7, 1)) - 1) + instr(digits,
             substr(hex, 8, 1)) - 1) << 24) AS batch
  FROM (SELECT c.session, c.pid, c.id, json_extract(c.args, '$.matLayout') AS handle,
    lower(json_extract(c.args, '$.buf')) AS hex, '0123456789abcdef' AS digits
        FROM (SELECT 1 FROM product WHERE by_layouts LIMIT 1) CROSS JOIN calls c
        WHERE c.failed = 0 AND c.function_id IN (SELECT id FROM functions WHERE "group" = 'blas'
          AND name GLOB '*MatrixLayoutSetAttribute')
          AND json_extract(c.args, '$.attr') GLOB '*_MATRIX_LAYOUT_BATCH_COUNT')
), matmul AS MATERIALIZED (
  SELECT * FROM chosen WHERE function_id IN (SELECT id FROM product WHERE by_layouts)
), event AS (  -- a handle is used again, so the last layout with it before a product holds
  SELECT session, pid, handle, id, id AS layout, NULL AS batch, NULL AS role FROM layout
  UNION ALL
  SELECT session, pid, handle, id, NULL, id, NULL FROM batched
  UNION ALL
  SELECT u.session, u.pid, json_extract(u.facts, r.path), u.id, NULL, NULL, r.role FROM matmul u
    JOIN (SELECT 'a' AS role, '$[0]' AS path UNION ALL SELECT 'b', '$[1]' UNION ALL SELECT 'd', '$[2]') r
), matched AS (
  SELECT id, role, max(layout) OVER (PARTITION BY session, pid, handle ORDER BY id) AS layout,
    max(batch) OVER (PARTITION BY session, pid, handle ORDER BY id) AS batch FROM event
), shaped AS MATERIALIZED (
  SELECT id, max(iif(role = 'a', layout, NULL)) AS a, max(iif(role = 'b', layout, NULL)) AS b,
    max(iif(role = 'd', layout, NULL)) AS d, max(iif(role = 'd', batch, NULL)) AS batch
  FROM matched WHERE role IS NOT NULL GROUP BY id
), by_layout AS MATERIALIZED (
  SELECT u.session, u.pid, u.function_id, a.facts AS a, b.facts AS b, d.facts AS d,
    iif(n.id > d.id, n.batch, 1) AS batch, count(*) AS calls, sum(u.duration) AS duration, count(s.gpu_ns) AS timed,
         sum(s.gpu_ns) AS gpu_ns, max(s.device) AS device
  FROM shaped x JOIN matmul u ON u.id = x.id LEFT JOIN layout a ON a.id = x.a LEFT JOIN layout b ON b.id = x.b
    LEFT JOIN layout d ON d.id = x.d LEFT JOIN batched n ON n.id = x.batch LEFT JOIN spent s ON s.call_id = x.id
  GROUP BY u.session, u.pid, u.function_id, a.facts, b.facts, d.facts, iif(n.id > d.id, n.batch, 1)
), read AS (
  SELECT x.session, p.name, x.pid, x.function_id, json_extract(x.facts, '$[0]') AS m,
    json_extract(x.facts, '$[1]') AS n, json_extract(x.facts, '$[2]') AS k,
    coalesce(json_extract(x.facts, '$[3]'), 1) AS batch,
         json_extract(x.facts, '$[4]') AS trans_a, json_extract(x.facts, '$[5]') AS trans_b,
           iif(p.letter IS NULL, json_extract(x.facts, '$[9]'), upper(substr(p.name, p.letter, 1))) AS a,
         iif(p.letter IS NULL, json_extract(x.facts, '$[10]'), upper(substr(p.name, p.letter, 1))) AS b,
           iif(p.letter IS NULL, coalesce(json_extract(x.facts, '$[11]'), json_extract(x.facts, '$[12]')),
           upper(substr(p.name, p.letter, 1))) AS c,
         json_extract(x.facts, '$[13]') AS compute,
           json_extract(x.facts, '$[6]') || ',' || json_extract(x.facts, '$[7]') || ',' || json_extract(x.facts,
           '$[8]') AS ld,
         x.calls, x.duration, x.timed, x.gpu_ns, x.device
  FROM plain x JOIN product p ON p.id = x.function_id
  UNION ALL
  SELECT x.session, p.name, x.pid, x.function_id, json_extract(x.d, '$[1]'), json_extract(x.d, '$[2]'),
    json_extract(x.a, '$[1]') * json_extract(x.a, '$[2]') / nullif(json_extract(x.d, '$[1]'), 0), x.batch, NULL, NULL,
         json_extract(x.a, '$[0]'), json_extract(x.b, '$[0]'), json_extract(x.d, '$[0]'), NULL,
           json_extract(x.a, '$[3]') || ',' || json_extract(x.b, '$[3]') || ',' || json_extract(x.d, '$[3]'),
         x.calls, x.duration, x.timed, x.gpu_ns, x.device
  FROM by_layout x JOIN product p ON p.id = x.function_id
), typed AS (
  SELECT x.*, coalesce(ea.type, x.a) AS a_name, coalesce(eb.type, x.b) AS b_name, coalesce(ec.type, x.c) AS c_name,
    x.batch * (x.m * x.k * ea.bytes + x.k * x.n * eb.bytes + x.m * x.n * ec.bytes) AS size,
         iif(coalesce(ea.complex, 0), 8.0, 2.0) * x.m * x.n * x.k * x.batch AS flops,
           x.duration - coalesce(x.calls * c.own_ns, 0) AS net
  FROM read x
  LEFT JOIN element_types ea ON ea.word = x.a
  LEFT JOIN element_types eb ON eb.word = x.b
  LEFT JOIN element_types ec ON ec.word = x.c
  LEFT JOIN library_costs c ON c.session = x.session AND c.pid = x.pid AND c.function_id = x.function_id
), shape AS (
  SELECT session, name, pid, m, n, k, batch, iif(a_name = b_name AND b_name = c_name, a_name,
    a_name || ',' || b_name || ',' || c_name)
           || coalesce(' ' || lower(replace(replace(replace(replace(replace(compute, 'rocblas_datatype_', ''), '_r',
             ''), 'HIPBLAS_', ''), 'HIP_', ''), 'CUBLAS_', '')), '') AS types,
         (CASE WHEN trans_a IS NULL THEN '' WHEN trans_a LIKE '%conj%' OR trans_a GLOB '*_C' THEN 'C'
         WHEN trans_a LIKE '%none' OR trans_a GLOB '*_N' THEN 'N' ELSE 'T' END) || (CASE WHEN trans_b IS NULL THEN ''
         WHEN trans_b LIKE '%conj%' OR trans_b GLOB '*_C' THEN 'C' WHEN trans_b LIKE '%none' OR trans_b GLOB '*_N'
         THEN 'N' ELSE 'T' END) AS trans,
         ld, sum(calls) AS calls, max(sum(net), 0) AS total_ns, sum(flops * calls) AS flops,
           sum(size * calls) AS bytes, sum(gpu_ns) AS gpu_ns,
         sum(nullif(timed, 0) * flops) AS timed_flops, sum(nullif(timed, 0) * size) AS timed_bytes,
           max(device) AS device, a_name
  FROM typed GROUP BY session, name, pid, m, n, k, batch, types, trans, ld
)
SELECT s.name, s.pid, s.m, s.n, s.k, s.batch, s.types, s.trans, s.ld, s.calls, s.total_ns, s.flops,
  round(100.0 * s.flops / nullif(sum(s.flops) OVER (), 0), 2) AS percent, s.bytes, s.gpu_ns,
       round(s.timed_flops / nullif(s.gpu_ns, 0) / 1e3, 2) AS tflops,
         round(100.0 * s.timed_flops / nullif(s.gpu_ns, 0) * 1e9 / p.operations, 1) AS peak_percent,
       round(1.0 * s.timed_bytes / nullif(s.gpu_ns, 0), 2) AS gb_per_s
FROM shape s
LEFT JOIN device_peaks p ON p.session = s.session AND p.pid = s.pid AND p.device = s.device AND p.type = s.a_name
  AND p.unit = 'any'
