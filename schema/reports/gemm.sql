-- Matrix products by shape: calls, FLOPs, and the rate that the GPU reached
-- about: From the arguments of rocBLAS, hipBLAS, hipBLASLt and cuBLAS (-e all,blas). A product of one library inside a
--   product of another counts once, as the outer one. A product is 2 m n k operations for each element of the batch, 8
--   m n k of complex numbers. Grouped products of cuBLAS are left out, because their shapes are in memory, and
--   cublasUint8gemmBias.
-- about: -e blas without all records no launches, so the columns of the GPU's time stay empty. Types of complex numbers
--   are named as numpy does: c64 has two f32.
-- sort: -flops
-- limit: 40
-- leave: ld pid bytes trans gb_per_s percent flops peak_percent batch gpu_ns
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
-- column: types         text      elements of the left, right and resulting matrix, if they differ; then the type that
--   is computed in
-- column: trans         text      N, T or C: whether the left and the right matrix are transposed
-- column: ld            text      leading dimensions of the left, right and resulting matrix
-- column: calls         count     successful calls with this shape
-- column: total_ns      net       time of these calls on the host
-- column: flops         number    operations of all calls
-- column: percent       percent   share of the operations of all products
-- column: bytes         bytes     of the three matrices, each moved once, for all calls
-- column: gpu_ns        duration  time of the GPU for work that the calls put to run; empty without --gpu-times
-- column: tflops        number    operations by time of the GPU, 1e12 in a second
-- column: peak_percent  percent   of the highest rate of the card for this type, with matrix units if it has any, at
--   the highest clock; empty: not known
-- column: gb_per_s      number    bytes by time of the GPU
WITH told AS MATERIALIZED (
  SELECT * FROM matrix_calls WHERE failed = 0 AND NOT asks
), nested AS MATERIALIZED (
  SELECT call_id FROM library_nesting
  WHERE call_id IN (SELECT call_id FROM told) AND outer_id IN (SELECT call_id FROM told)
), read AS MATERIALIZED (
  SELECT t.session, t.pid, t.function_id, t.name, t.m, t.n, t.k, t.batch, t.trans_a, t.trans_b, t.a, t.b, t.c,
    t.compute, t.ld_a || ',' || t.ld_b || ',' || t.ld_c AS ld, count(*) AS calls, sum(t.duration) AS duration,
    count(s.gpu_ns) AS timed, sum(s.gpu_ns) AS gpu_ns, max(s.device) AS device
  FROM told t LEFT JOIN library_work s ON s.call_id = t.call_id
  WHERE t.call_id NOT IN (SELECT call_id FROM nested) /*? AND t.session = :session */ /*? AND t.pid = :pid */
    /*? AND t.name REGEXP :name */
  GROUP BY t.session, t.pid, t.function_id, t.m, t.n, t.k, t.batch, t.trans_a, t.trans_b, t.a, t.b, t.c, t.compute, ld
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
