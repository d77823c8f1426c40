-- What the reports about libraries above HIP (rocBLAS, MIOpen, RCCL ...) have in common.

CREATE VIEW library_functions AS
SELECT id AS function_id, session, api, name, grp AS "group", library
FROM function_
WHERE grp IN ('comm', 'blas', 'dnn', 'fft', 'sparse', 'solver', 'rand');

-- Each pair of calls of libraries of which one is inside the other, at any depth. The first term reads the table of
-- calls only if there are such functions.
CREATE VIEW library_nesting AS
WITH RECURSIVE library AS MATERIALIZED (SELECT function_id AS id FROM library_functions),
outer_one(id, at) AS (
  SELECT c.id, c.id - c.up
  FROM (SELECT 1 FROM library LIMIT 1)
  CROSS JOIN call_ c
  WHERE c.up IS NOT NULL AND c.fn IN (SELECT id FROM library)
  UNION ALL
  SELECT o.id, p.id - p.up
  FROM outer_one o
  CROSS JOIN call_ p ON p.id = o.at
  WHERE p.up IS NOT NULL)
SELECT o.id AS call_id, o.at AS outer_id
FROM outer_one o
CROSS JOIN call_ c ON c.id = o.at
WHERE c.fn IN (SELECT id FROM library);

-- Work of the GPU belongs to the call that put it to run and to all calls around that one.
CREATE VIEW library_work AS
WITH RECURSIVE library AS MATERIALIZED (SELECT function_id AS id FROM library_functions),
own AS MATERIALIZED (
  SELECT w.call, sum(w.dur) AS ns, min(w.ts) AS first, max(w.ts + w.dur) AS last,
         max(nullif(d.ordinal, -1)) AS device
  FROM (SELECT 1 FROM library LIMIT 1)
  CROSS JOIN gpu_work_ w
  LEFT JOIN device_ d ON d.id = w.device
  WHERE w.call IS NOT NULL
  GROUP BY w.call),
enclosing(at, ns, first, last, device) AS (
  SELECT c.id - c.up, w.ns, w.first, w.last, w.device
  FROM own w
  CROSS JOIN call_ c ON c.id = w.call
  WHERE c.up IS NOT NULL
  UNION ALL
  SELECT p.id - p.up, e.ns, e.first, e.last, e.device
  FROM enclosing e
  CROSS JOIN call_ p ON p.id = e.at
  WHERE p.up IS NOT NULL)
SELECT c.id AS call_id, sum(e.ns) AS gpu_ns, min(e.first) AS first, max(e.last) AS last, max(e.device) AS device
FROM enclosing e
CROSS JOIN call_ c ON c.id = e.at
WHERE c.fn IN (SELECT id FROM library)
GROUP BY c.id;

-- fade's own part of the duration of a call, on average. Calls that were only counted have no duration.
CREATE VIEW library_costs AS
SELECT s.session, s.pid, s.function_id,
       1.0 * sum(s.raw_total_ns - s.total_ns) / sum(s.calls - s.counted_calls) AS own_ns
FROM call_stats s
JOIN library_functions f ON f.function_id = s.function_id
GROUP BY s.session, s.pid, s.function_id
HAVING sum(s.calls - s.counted_calls) > 0;

-- Types of elements as the arguments of libraries name them. bytes: of one element. A complex number is two of half
-- its size. One row for each type, with its name behind the prefix of each library.
CREATE VIEW element_types AS
WITH named(type, bytes, complex, letter, rocblas, runtime, nccl, miopen, cudnn) AS (
  VALUES
    ('f64', 8, 0, 'D', 'f64_r', 'R_64F', 'Float64', 'Double', 'DOUBLE'),
    ('f32', 4, 0, 'S', 'f32_r', 'R_32F', 'Float32', 'Float', 'FLOAT'),
    ('f16', 2, 0, 'H', 'f16_r', 'R_16F', 'Float16', 'Half', 'HALF'),
    ('bf16', 2, 0, NULL, 'bf16_r', 'R_16BF', 'Bfloat16', 'BFloat16', 'BFLOAT16'),
    ('bf16', 2, 0, NULL, NULL, 'R_16B', NULL, NULL, NULL),
    ('c128', 16, 1, 'Z', 'f64_c', 'C_64F', NULL, NULL, NULL), ('c64', 8, 1, 'C', 'f32_c', 'C_32F', NULL, NULL, NULL),
    ('f8', 1, 0, NULL, 'f8_r', 'R_8F_E4M3', 'Float8e4m3', 'Float8', 'FP8_E4M3'),
    ('f8', 1, 0, NULL, NULL, 'R_8F_E4M3_FNUZ', NULL, NULL, NULL),
    ('bf8', 1, 0, NULL, 'bf8_r', 'R_8F_E5M2', 'Float8e5m2', 'BFloat8', 'FP8_E5M2'),
    ('bf8', 1, 0, NULL, NULL, 'R_8F_E5M2_FNUZ', NULL, NULL, NULL),
    ('i64', 8, 0, NULL, NULL, 'R_64I', 'Int64', 'Int64', 'INT64'),
    ('u64', 8, 0, NULL, NULL, 'R_64U', 'Uint64', NULL, NULL),
    ('i32', 4, 0, NULL, 'i32_r', 'R_32I', 'Int32', 'Int32', 'INT32'),
    ('u32', 4, 0, NULL, 'u32_r', 'R_32U', 'Uint32', NULL, NULL),
    ('i8', 1, 0, NULL, 'i8_r', 'R_8I', 'Int8', 'Int8', 'INT8'),
    ('u8', 1, 0, NULL, 'u8_r', 'R_8U', 'Uint8', NULL, 'UINT8'), ('ci16', 2, 1, NULL, 'i8_c', 'C_8I', NULL, NULL, NULL))
SELECT letter AS word, type, bytes, complex FROM named WHERE letter IS NOT NULL
UNION ALL
SELECT 'rocblas_datatype_' || rocblas, type, bytes, complex FROM named WHERE rocblas IS NOT NULL
UNION ALL
SELECT p.prefix || n.runtime, n.type, n.bytes, n.complex
FROM named n
CROSS JOIN (SELECT 'HIP_' AS prefix UNION ALL SELECT 'HIPBLAS_' UNION ALL SELECT 'CUDA_') p
WHERE n.runtime IS NOT NULL
UNION ALL
SELECT 'nccl' || nccl, type, bytes, complex FROM named WHERE nccl IS NOT NULL
UNION ALL
SELECT 'miopen' || miopen, type, bytes, complex FROM named WHERE miopen IS NOT NULL
UNION ALL
SELECT 'CUDNN_DATA_' || cudnn, type, bytes, complex FROM named WHERE cudnn IS NOT NULL;

-- The highest rates of chips, from AMD's data sheets: operations of one compute unit in one cycle. unit: matrix or
-- vector. A chip without matrix units for a type has only the row of its vector units.
CREATE VIEW peak_rates(arch, unit, type, operations) AS
VALUES
  ('gfx908', 'matrix', 'f32', 256), ('gfx908', 'matrix', 'f16', 1024), ('gfx908', 'matrix', 'bf16', 512),
  ('gfx908', 'matrix', 'i8', 1024), ('gfx908', 'vector', 'f32', 128), ('gfx908', 'vector', 'f64', 64),
  ('gfx90a', 'matrix', 'f64', 256), ('gfx90a', 'matrix', 'f32', 256), ('gfx90a', 'matrix', 'f16', 1024),
  ('gfx90a', 'matrix', 'bf16', 1024), ('gfx90a', 'matrix', 'i8', 1024), ('gfx90a', 'vector', 'f32', 128),
  ('gfx90a', 'vector', 'f64', 128), ('gfx942', 'matrix', 'f64', 256), ('gfx942', 'matrix', 'f32', 256),
  ('gfx942', 'matrix', 'f16', 2048), ('gfx942', 'matrix', 'bf16', 2048), ('gfx942', 'matrix', 'i8', 4096),
  ('gfx942', 'matrix', 'f8', 4096), ('gfx942', 'matrix', 'bf8', 4096), ('gfx942', 'vector', 'f32', 256),
  ('gfx942', 'vector', 'f64', 128), ('gfx1030', 'vector', 'f32', 128), ('gfx1030', 'vector', 'f16', 256),
  ('gfx1030', 'vector', 'f64', 8), ('gfx1100', 'vector', 'f32', 256), ('gfx1100', 'vector', 'f64', 8),
  ('gfx1100', 'matrix', 'f16', 512), ('gfx1100', 'matrix', 'bf16', 512), ('gfx1100', 'matrix', 'i8', 512),
  ('gfx1101', 'vector', 'f32', 256), ('gfx1101', 'vector', 'f64', 8), ('gfx1101', 'matrix', 'f16', 512),
  ('gfx1101', 'matrix', 'bf16', 512), ('gfx1102', 'vector', 'f32', 256), ('gfx1102', 'vector', 'f64', 8),
  ('gfx1102', 'matrix', 'f16', 512), ('gfx1102', 'matrix', 'bf16', 512), ('gfx1201', 'vector', 'f32', 256),
  ('gfx1201', 'matrix', 'f16', 1024), ('gfx1201', 'matrix', 'bf16', 1024);

-- Operations in a second that a device of a process can do at most, at its highest clock. unit: as in peak_rates;
-- 'any': the highest of all units. Complex numbers are computed by the operations of their parts.
CREATE VIEW device_peaks AS
WITH card AS MATERIALIZED (
  SELECT session, pid, device,
         substr(coalesce(driver_arch, arch), 1, instr(coalesce(driver_arch, arch) || ':', ':') - 1) AS arch,
         compute_units * coalesce(driver_mhz, reference_boost_mhz, told_clock_mhz) * 1e6 AS cycles
  FROM device_truth),
part(type, real) AS (
  VALUES
    ('f64', 'f64'), ('f32', 'f32'), ('f16', 'f16'), ('bf16', 'bf16'), ('i8', 'i8'), ('f8', 'f8'), ('bf8', 'bf8'),
    ('c128', 'f64'), ('c64', 'f32'), ('c32', 'f16'))
SELECT c.session, c.pid, c.device, p.type, r.unit, c.cycles * r.operations AS operations
FROM card c
JOIN peak_rates r ON r.arch = c.arch
JOIN part p ON p.real = r.type
UNION ALL
SELECT c.session, c.pid, c.device, p.type, 'any', max(c.cycles * r.operations)
FROM card c
JOIN peak_rates r ON r.arch = c.arch
JOIN part p ON p.real = r.type
GROUP BY c.session, c.pid, c.device, p.type;

-- Functions of RCCL. counted: the parameter with the elements. whole: 1 if each rank has so many. factor of the bus
-- bandwidth: 2: 2(n-1)/n, 1: (n-1)/n, 0: 1. together: 1: all ranks of a communicator call it. makes: 1: its
-- communicator begins, ends, or tells its number of ranks, which is in the parameter `ranks`.
CREATE VIEW comm_functions AS
WITH operation(name, counted, whole, factor, together) AS (
  VALUES
    ('ncclAllReduce', 'count', 0, 2, 1), ('ncclAllReduceWithBias', 'count', 0, 2, 1), ('ncclReduce', 'count', 0, 0, 1),
    ('ncclBroadcast', 'count', 0, 0, 1), ('ncclBcast', 'count', 0, 0, 1), ('ncclAllGather', 'sendcount', 1, 1, 1),
    ('ncclReduceScatter', 'recvcount', 1, 1, 1), ('ncclAllToAll', 'count', 1, 1, 1),
    ('ncclAllToAllv', NULL, NULL, NULL, 1), ('ncclGather', 'sendcount', 1, 1, 1),
    ('ncclScatter', 'recvcount', 1, 1, 1), ('ncclSend', 'count', 0, 0, 0), ('ncclRecv', 'count', 0, 0, 0))
SELECT f.function_id, f.session, f.name, o.counted, o.whole, o.factor, coalesce(o.together, 0) AS together,
       f.name GLOB 'ncclCommInit*'
       OR f.name IN ('ncclCommCount', 'ncclCommSplit', 'ncclCommShrink', 'ncclCommDestroy', 'ncclCommAbort') AS makes,
       CASE
         WHEN f.name = 'ncclCommInitAll' THEN 'ndev'
         WHEN f.name GLOB 'ncclCommInit*' THEN 'nranks'
         WHEN f.name = 'ncclCommCount' THEN 'count' END AS ranks
FROM library_functions f
LEFT JOIN operation o ON o.name = f.name
WHERE f."group" = 'comm';
