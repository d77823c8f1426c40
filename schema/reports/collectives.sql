-- Collective operations of RCCL: bytes, ranks, bandwidths as nccl-tests define them
-- about: From the arguments of RCCL's functions (-e all,comm). The number of ranks is that of ncclCommInitRank or ncclCommInitAll. Work of a call between ncclGroupStart and ncclGroupEnd is put to run by ncclGroupEnd, so such a call has no time of the GPU.
-- sort: -total_bytes
-- limit: 40
-- leave: total_ns pid op
-- none: no collective operation was recorded
-- question: work
-- topic: calls
-- rows: of single calls
-- record: -e all,comm
-- column: operation    text      function, without nccl
-- column: pid          id        process
-- column: rank         count     of the process in a distributed job
-- column: ranks        count     of the communicator; empty: its creation was not recorded
-- column: type         text      of an element
-- column: op           text      Sum, Max ...
-- column: count        count     elements, as the call has them
-- column: bytes        bytes     of one call, as nccl-tests count: of the whole array, for operations with a part for each rank too
-- column: calls        count     successful calls
-- column: total_bytes  bytes     of all calls
-- column: total_ns     duration  time of the calls on the host
-- column: timed        count     calls with a time of the GPU
-- column: gpu_ns       duration  time of the GPU for work that the calls put to run; empty without --gpu-times
-- column: alg_gb_per_s number    algorithm bandwidth: bytes by time of the GPU
-- column: bus_gb_per_s number    bus bandwidth: algorithm bandwidth times a factor of operation and ranks, comparable with the hardware's
WITH RECURSIVE family(name, counted, whole, factor) AS (
  VALUES  -- counted: the parameter with the elements. whole: 1 if each rank has so many. factor: 2: 2(n-1)/n, 1: (n-1)/n, 0: 1
    ('ncclAllReduce', 'count', 0, 2), ('ncclAllReduceWithBias', 'count', 0, 2), ('ncclReduce', 'count', 0, 0), ('ncclBroadcast', 'count', 0, 0), ('ncclBcast', 'count', 0, 0),
    ('ncclAllGather', 'sendcount', 1, 1), ('ncclReduceScatter', 'recvcount', 1, 1), ('ncclAllToAll', 'count', 1, 1), ('ncclGather', 'sendcount', 1, 1), ('ncclScatter', 'recvcount', 1, 1),
    ('ncclSend', 'count', 0, 0), ('ncclRecv', 'count', 0, 0)
), element(word, name, bytes) AS (
  VALUES ('ncclInt8', 'i8', 1), ('ncclUint8', 'u8', 1), ('ncclInt32', 'i32', 4), ('ncclUint32', 'u32', 4), ('ncclInt64', 'i64', 8), ('ncclUint64', 'u64', 8), ('ncclFloat16', 'f16', 2),
    ('ncclFloat32', 'f32', 4), ('ncclFloat64', 'f64', 8), ('ncclBfloat16', 'bf16', 2), ('ncclFloat8e4m3', 'f8', 1), ('ncclFloat8e5m2', 'bf8', 1)
), known AS MATERIALIZED (
  SELECT f.id, g.* FROM functions f JOIN family g ON g.name = f.name WHERE f."group" = 'comm'
), communicator AS MATERIALIZED (
  SELECT c.pid, c.id, coalesce(json_extract(c.args, '$.comm'), json_extract(c.args, '$.newcomm')) AS comm, coalesce(json_extract(c.args, '$.nranks'), json_extract(c.args, '$.ndev')) AS ranks
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c WHERE c.function_id IN (SELECT id FROM functions WHERE name GLOB 'ncclCommInit*') AND c.failed = 0
), handle AS MATERIALIZED (
  SELECT pid, id, ranks, comm FROM communicator WHERE comm NOT GLOB '[[]*'
  UNION ALL
  SELECT m.pid, m.id, m.ranks, e.value FROM communicator m, json_each(m.comm) e WHERE m.comm GLOB '[[]*'
), chosen AS MATERIALIZED (
  SELECT c.session, c.id, c.pid, c.duration, substr(k.name, 5) AS operation, k.whole, k.factor, CAST(json_extract(c.args, '$.' || k.counted) AS INTEGER) AS n, json_extract(c.args, '$.datatype') AS type,
         replace(json_extract(c.args, '$.op'), 'nccl', '') AS op,
         (SELECT h.ranks FROM handle h WHERE h.pid = c.pid AND h.id < c.id AND h.comm = json_extract(c.args, '$.comm') ORDER BY h.id DESC LIMIT 1) AS ranks
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c JOIN known k ON k.id = c.function_id  -- without such functions no call is read
  WHERE c.failed = 0 /*? AND c.session = :session */ /*? AND c.pid = :pid */ /*? AND k.name REGEXP :name */
    /*? AND (c.session, c.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
), work AS MATERIALIZED (
  SELECT call, sum(duration) AS ns FROM gpu_work WHERE call IS NOT NULL GROUP BY call
), enclosing(at, ns) AS (
  SELECT c.parent_id, w.ns FROM work w CROSS JOIN calls c ON c.id = w.call WHERE c.parent_id IS NOT NULL AND EXISTS (SELECT 1 FROM chosen)
  UNION ALL
  SELECT p.parent_id, e.ns FROM enclosing e CROSS JOIN calls p ON p.id = e.at WHERE p.parent_id IS NOT NULL
), spent AS MATERIALIZED (
  SELECT at, sum(ns) AS ns FROM enclosing WHERE at IN (SELECT id FROM chosen) GROUP BY at
), sized AS (
  SELECT x.*, coalesce(e.name, x.type) AS type_name, e.bytes * x.n * iif(x.whole, x.ranks, 1) AS bytes, s.ns, CASE x.factor WHEN 2 THEN 2.0 * (x.ranks - 1) / x.ranks WHEN 1 THEN 1.0 * (x.ranks - 1) / x.ranks ELSE 1.0 END AS bus
  FROM chosen x LEFT JOIN element e ON e.word = x.type LEFT JOIN spent s ON s.at = x.id
)
SELECT operation, pid, (SELECT max(r.rank) FROM process_ranks r WHERE r.session = sized.session AND r.pid = sized.pid) AS rank, ranks, type_name AS type, op, n AS count, bytes, count(*) AS calls, sum(bytes) AS total_bytes,
       sum(duration) AS total_ns, count(ns) AS timed, sum(ns) AS gpu_ns, round(1.0 * bytes * count(ns) / nullif(sum(ns), 0), 2) AS alg_gb_per_s, round(bus * bytes * count(ns) / nullif(sum(ns), 0), 2) AS bus_gb_per_s
FROM sized GROUP BY session, operation, pid, ranks, type, op, n
