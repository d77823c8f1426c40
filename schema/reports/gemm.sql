-- Matrix products by shape: calls, FLOPs, and the rate that the GPU reached
-- about: From the arguments of rocBLAS, hipBLAS, hipBLASLt and cuBLAS (-e all,blas). A product of one library inside a product of another counts once, as the outer one. A product is 2 m n k operations for each element of the batch, 8 m n k of complex numbers.
-- sort: -flops
-- limit: 40
-- leave: bytes pid strides total_ns gb_per_s trans
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
-- column: strides       text      leading dimensions of the left, right and resulting matrix
-- column: calls         count     successful calls with this shape
-- column: total_ns      duration  time of these calls on the host
-- column: flops         number    operations of all calls
-- column: percent       percent   share of the operations of all products
-- column: bytes         bytes     of the three matrices, each moved once, for all calls
-- column: gpu_ns        duration  time of the GPU for work that the calls put to run; empty without --gpu-times
-- column: tflops        number    operations by time of the GPU, 1e12 in a second
-- column: peak_percent  percent   of the highest rate of the card for this type, with matrix units if it has any, at the highest clock; empty: not known
-- column: gb_per_s      number    bytes by time of the GPU
WITH RECURSIVE family(pattern, letter, m, n, k, batch, trans_a, trans_b, a, b, c, compute, ld_a, ld_b, ld_c) AS (
  VALUES  -- letter: the place of the type in the name; else names of the parameters that have it
    ('^rocblas_[sdhcz]gemm(_strided)?(_batched)?(_64)?$', 9, 'm', 'n', 'k', 'batch_count', 'transA', 'transB', NULL, NULL, NULL, NULL, 'lda', 'ldb', 'ldc'),
    ('^rocblas_gemm(_strided)?(_batched)?_ex3?(_64)?$', NULL, 'm', 'n', 'k', 'batch_count', 'transA', 'transB', 'a_type', 'b_type', 'd_type', 'compute_type', 'lda', 'ldb', 'ldd'),
    ('^hipblas[SDHCZ]gemm(Strided)?(Batched)?(_v2)?(_64)?$', 8, 'm', 'n', 'k', 'batchCount', 'transA', 'transB', NULL, NULL, NULL, NULL, 'lda', 'ldb', 'ldc'),
    ('^hipblasGemm(Strided)?(Batched)?Ex(WithFlags)?(_v2)?(_64)?$', NULL, 'm', 'n', 'k', 'batchCount', 'transA', 'transB', 'aType', 'bType', 'cType', 'computeType', 'lda', 'ldb', 'ldc'),
    ('^cublas[SDHCZ]gemm(3m)?(Strided)?(Batched)?(_v2)?(_64)?$', 7, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', NULL, NULL, NULL, NULL, 'lda', 'ldb', 'ldc'),
    ('^cublasGemm(Strided)?(Batched)?Ex(_64)?$', NULL, 'm', 'n', 'k', 'batchCount', 'transa', 'transb', 'Atype', 'Btype', 'Ctype', 'computeType', 'lda', 'ldb', 'ldc')
), element(word, name, bytes, complex) AS (
  VALUES ('S', 'f32', 4, 0), ('D', 'f64', 8, 0), ('H', 'f16', 2, 0), ('C', 'c32', 8, 1), ('Z', 'c64', 16, 1), ('16F', 'f16', 2, 0), ('F16_R', 'f16', 2, 0), ('16B', 'bf16', 2, 0),
    ('BF16_R', 'bf16', 2, 0), ('R_16BF', 'bf16', 2, 0), ('R_16B', 'bf16', 2, 0), ('R_16F', 'f16', 2, 0), ('R_32F', 'f32', 4, 0), ('F32_R', 'f32', 4, 0), ('R_64F', 'f64', 8, 0), ('F64_R', 'f64', 8, 0),
    ('C_32F', 'c32', 8, 1), ('F32_C', 'c32', 8, 1), ('C_64F', 'c64', 16, 1), ('F64_C', 'c64', 16, 1), ('R_8I', 'i8', 1, 0), ('I8_R', 'i8', 1, 0), ('R_32I', 'i32', 4, 0), ('I32_R', 'i32', 4, 0),
    ('R_8F_E4M3', 'f8', 1, 0), ('R_8F_E5M2', 'bf8', 1, 0), ('R_8F_E4M3_FNUZ', 'f8', 1, 0), ('R_8F_E5M2_FNUZ', 'bf8', 1, 0), ('F8_R', 'f8', 1, 0), ('BF8_R', 'bf8', 1, 0)
), rate(arch, name, operations) AS (  -- for each compute unit and cycle; of matrix units, of vector units if the chip has no others for the type
  VALUES ('gfx908', 'f32', 256), ('gfx908', 'f16', 1024), ('gfx908', 'bf16', 512), ('gfx908', 'i8', 1024), ('gfx90a', 'f64', 256), ('gfx90a', 'c64', 256), ('gfx90a', 'f32', 256), ('gfx90a', 'f16', 1024),
    ('gfx90a', 'bf16', 1024), ('gfx90a', 'i8', 1024), ('gfx942', 'f64', 256), ('gfx942', 'f32', 256), ('gfx942', 'f16', 2048), ('gfx942', 'bf16', 2048), ('gfx942', 'i8', 4096), ('gfx942', 'f8', 4096),
    ('gfx942', 'bf8', 4096), ('gfx1100', 'f32', 256), ('gfx1100', 'f16', 512), ('gfx1100', 'bf16', 512), ('gfx1100', 'i8', 512), ('gfx1101', 'f32', 256), ('gfx1101', 'f16', 512), ('gfx1101', 'bf16', 512),
    ('gfx1102', 'f32', 256), ('gfx1102', 'f16', 512), ('gfx1102', 'bf16', 512), ('gfx1030', 'f32', 128), ('gfx1030', 'f16', 256), ('gfx1201', 'f32', 256), ('gfx1201', 'f16', 1024), ('gfx1201', 'bf16', 1024)
), product AS MATERIALIZED (
  SELECT f.id, f.name, g.* FROM functions f JOIN family g ON f.name REGEXP g.pattern WHERE f."group" = 'blas'
), asked AS MATERIALIZED (
  SELECT id FROM product
  UNION
  SELECT id FROM functions WHERE "group" = 'blas' AND name REGEXP '^(hip|cu)blasLt(MatrixLayoutCreate|MatrixLayoutInit_internal|MatrixLayoutSetAttribute|Matmul)$'
), told AS MATERIALIZED (  -- arguments are unpacked once
  SELECT c.session, c.id, c.pid, c.parent_id, c.duration, c.name, c.function_id, c.args
  FROM (SELECT 1 FROM asked LIMIT 1) CROSS JOIN calls c  -- without such functions no call is read
  WHERE c.failed = 0 AND c.function_id IN (SELECT id FROM asked)
), layout AS MATERIALIZED (  -- of hipBLASLt and cuBLASLt
  SELECT pid, id, json_extract(args, '$.matLayout') AS handle, json_extract(args, '$.type') AS type, json_extract(args, '$.rows') AS rows, json_extract(args, '$.cols') AS cols, json_extract(args, '$.ld') AS ld
  FROM told WHERE name GLOB '*MatrixLayoutCreate' OR name GLOB '*MatrixLayoutInit_internal'
), batched AS MATERIALIZED (  -- a number of four bytes in hexadecimal, the lowest first
  SELECT pid, id, json_extract(args, '$.matLayout') AS handle, lower(json_extract(args, '$.buf')) AS hex
  FROM told WHERE name GLOB '*MatrixLayoutSetAttribute' AND json_extract(args, '$.attr') GLOB '*_MATRIX_LAYOUT_BATCH_COUNT'
), event AS (  -- a handle is used again, so the last layout with it before a product holds
  SELECT pid, handle, id, id AS layout, NULL AS batch, NULL AS role FROM layout
  UNION ALL
  SELECT pid, handle, id, NULL, id, NULL FROM batched
  UNION ALL
  SELECT t.pid, json_extract(t.args, '$.' || r.name), t.id, NULL, NULL, r.role
  FROM told t JOIN (SELECT 'a' AS role, 'Adesc' AS name UNION ALL SELECT 'b', 'Bdesc' UNION ALL SELECT 'd', 'Ddesc') r WHERE t.name GLOB '*blasLtMatmul'
), matched AS MATERIALIZED (
  SELECT id, role, max(layout) OVER (PARTITION BY pid, handle ORDER BY id) AS layout, max(batch) OVER (PARTITION BY pid, handle ORDER BY id) AS batch FROM event
), matmul AS MATERIALIZED (
  SELECT id, max(iif(role = 'a', layout, NULL)) AS a, max(iif(role = 'b', layout, NULL)) AS b, max(iif(role = 'd', layout, NULL)) AS d, max(iif(role = 'd', batch, NULL)) AS s
  FROM matched WHERE role IS NOT NULL GROUP BY id
), read AS (
  SELECT c.session, c.id, c.pid, c.parent_id, c.duration, c.name, json_extract(c.args, '$.' || p.m) AS m, json_extract(c.args, '$.' || p.n) AS n, json_extract(c.args, '$.' || p.k) AS k,
         coalesce(json_extract(c.args, '$.' || p.batch), 1) AS batch, json_extract(c.args, '$.' || p.trans_a) AS trans_a, json_extract(c.args, '$.' || p.trans_b) AS trans_b,
         iif(p.letter IS NULL, json_extract(c.args, '$.' || p.a), substr(c.name, p.letter, 1)) AS a, iif(p.letter IS NULL, json_extract(c.args, '$.' || p.b), substr(c.name, p.letter, 1)) AS b,
         iif(p.letter IS NULL, coalesce(json_extract(c.args, '$.' || p.c), json_extract(c.args, '$.c_type')), substr(c.name, p.letter, 1)) AS c, json_extract(c.args, '$.' || p.compute) AS compute,
         json_extract(c.args, '$.' || p.ld_a) || ',' || json_extract(c.args, '$.' || p.ld_b) || ',' || json_extract(c.args, '$.' || p.ld_c) AS strides
  FROM told c JOIN product p ON p.id = c.function_id
  UNION ALL
  SELECT u.session, u.id, u.pid, u.parent_id, u.duration, u.name, d.rows, d.cols, a.rows * a.cols / nullif(d.rows, 0),
         iif(s.id > d.id, 16 * (instr('0123456789abcdef', substr(s.hex, 1, 1)) - 1) + (instr('0123456789abcdef', substr(s.hex, 2, 1)) - 1) + 4096 * (instr('0123456789abcdef', substr(s.hex, 3, 1)) - 1) + 256 * (instr('0123456789abcdef', substr(s.hex, 4, 1)) - 1), 1), NULL, NULL, a.type, b.type, d.type, NULL, a.ld || ',' || b.ld || ',' || d.ld
  FROM matmul x JOIN told u ON u.id = x.id LEFT JOIN layout a ON a.id = x.a LEFT JOIN layout b ON b.id = x.b LEFT JOIN layout d ON d.id = x.d LEFT JOIN batched s ON s.id = x.s
), chosen AS MATERIALIZED (
  SELECT * FROM read
  WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND name REGEXP :name */
), outer_one(id, at) AS (
  SELECT id, parent_id FROM chosen WHERE parent_id IS NOT NULL
  UNION ALL
  SELECT o.id, p.parent_id FROM outer_one o CROSS JOIN calls p ON p.id = o.at WHERE p.parent_id IS NOT NULL
), nested AS MATERIALIZED (
  SELECT DISTINCT id FROM outer_one WHERE at IN (SELECT id FROM chosen)
), work AS MATERIALIZED (
  SELECT call, sum(duration) AS ns, max(device) AS device FROM gpu_work WHERE call IS NOT NULL GROUP BY call
), enclosing(at, ns, device) AS (
  SELECT c.parent_id, w.ns, w.device FROM work w CROSS JOIN calls c ON c.id = w.call WHERE c.parent_id IS NOT NULL AND EXISTS (SELECT 1 FROM chosen)
  UNION ALL
  SELECT p.parent_id, e.ns, e.device FROM enclosing e CROSS JOIN calls p ON p.id = e.at WHERE p.parent_id IS NOT NULL
), spent AS MATERIALIZED (
  SELECT at, sum(ns) AS ns, max(device) AS device FROM enclosing WHERE at IN (SELECT id FROM chosen) GROUP BY at
), card AS MATERIALIZED (
  SELECT session, pid, device, substr(coalesce(driver_arch, arch), 1, instr(coalesce(driver_arch, arch) || ':', ':') - 1) AS arch, compute_units * coalesce(driver_mhz, reference_boost_mhz, told_clock_mhz) * 1e6 AS cycles
  FROM device_truth
), typed AS (
  SELECT x.*, coalesce(ea.name, x.a) AS a_name, coalesce(eb.name, x.b) AS b_name, coalesce(ec.name, x.c) AS c_name, coalesce(ea.complex, 0) AS complex,
         x.batch * (x.m * x.k * ea.bytes + x.k * x.n * eb.bytes + x.m * x.n * ec.bytes) AS size, s.ns, s.device
  FROM chosen x
  LEFT JOIN element ea ON ea.word = replace(replace(replace(replace(upper(x.a), 'ROCBLAS_DATATYPE_', ''), 'HIPBLAS_', ''), 'HIP_', ''), 'CUDA_', '')
  LEFT JOIN element eb ON eb.word = replace(replace(replace(replace(upper(x.b), 'ROCBLAS_DATATYPE_', ''), 'HIPBLAS_', ''), 'HIP_', ''), 'CUDA_', '')
  LEFT JOIN element ec ON ec.word = replace(replace(replace(replace(upper(x.c), 'ROCBLAS_DATATYPE_', ''), 'HIPBLAS_', ''), 'HIP_', ''), 'CUDA_', '')
  LEFT JOIN spent s ON s.at = x.id
  WHERE x.id NOT IN (SELECT id FROM nested)
), shape AS (
  SELECT session, name, pid, m, n, k, batch, iif(a_name = b_name AND b_name = c_name, a_name, a_name || ',' || b_name || ',' || c_name)
           || coalesce(' ' || lower(replace(replace(replace(replace(replace(compute, 'rocblas_datatype_', ''), '_r', ''), 'HIPBLAS_', ''), 'HIP_', ''), 'CUBLAS_', '')), '') AS types,
         (CASE WHEN trans_a IS NULL THEN '' WHEN trans_a LIKE '%conj%' OR trans_a GLOB '*_C' THEN 'C' WHEN trans_a LIKE '%none' OR trans_a GLOB '*_N' THEN 'N' ELSE 'T' END) || (CASE WHEN trans_b IS NULL THEN '' WHEN trans_b LIKE '%conj%' OR trans_b GLOB '*_C' THEN 'C' WHEN trans_b LIKE '%none' OR trans_b GLOB '*_N' THEN 'N' ELSE 'T' END) AS trans, strides, count(*) AS calls, sum(duration) AS total_ns, sum(iif(complex, 8.0, 2.0) * m * n * k * batch) AS flops, sum(size) AS bytes, sum(ns) AS gpu_ns,
         sum(iif(ns IS NULL, NULL, iif(complex, 8.0, 2.0) * m * n * k * batch)) AS timed_flops, sum(iif(ns IS NULL, NULL, size)) AS timed_bytes, max(device) AS device, a_name
  FROM typed GROUP BY session, name, pid, m, n, k, batch, types, trans, strides
)
SELECT s.name, s.pid, s.m, s.n, s.k, s.batch, s.types, s.trans, s.strides, s.calls, s.total_ns, s.flops, round(100.0 * s.flops / nullif(sum(s.flops) OVER (), 0), 2) AS percent, s.bytes, s.gpu_ns,
       round(s.timed_flops / nullif(s.gpu_ns, 0) / 1e3, 2) AS tflops, round(100.0 * s.timed_flops / nullif(s.gpu_ns, 0) * 1e9 / nullif(c.cycles * r.operations, 0), 1) AS peak_percent,
       round(1.0 * s.timed_bytes / nullif(s.gpu_ns, 0), 2) AS gb_per_s
FROM shape s
LEFT JOIN card c ON c.session = s.session AND c.pid = s.pid AND c.device = s.device
LEFT JOIN rate r ON r.arch = c.arch AND r.name = s.a_name
