-- Collective operations of RCCL: bytes, ranks, bandwidths as nccl-tests define them
-- about: From the arguments of RCCL's functions (-e all,comm). An operation inside another one counts once, as the
--   outer one. ncclAllToAllv is left out, because its counts are in memory; ncclSend and ncclRecv inside of it count.
--   The number of ranks is that of ncclCommInitRank, ncclCommInitAll or ncclCommCount; that of a communicator of
--   ncclCommSplit alone is not known. Work of a call between ncclGroupStart and ncclGroupEnd is put to run by
--   ncclGroupEnd, so such a call has no time of the GPU.
-- sort: -total_bytes
-- limit: 40
-- leave: pid op count timed rank bytes type alg_gb_per_s
-- none: no collective operation was recorded
-- question: work
-- topic: calls
-- rows: of single calls
-- record: -e all,comm
-- column: operation    text      function, without nccl
-- column: pid          id        process
-- column: rank         count     of the process in a distributed job
-- column: ranks        count     of the communicator; empty: its creation was not recorded, or does not tell
-- column: type         text      of an element
-- column: op           text      Sum, Max ...
-- column: count        count     elements, as the call has them
-- column: bytes        bytes     of one call, as nccl-tests count: of the whole array, for operations with a part for
--   each rank too
-- column: calls        count     successful calls
-- column: total_bytes  bytes     of all calls
-- column: total_ns     net       time of the calls on the host
-- column: timed        count     calls with a time of the GPU
-- column: gpu_ns       duration  time of the GPU for work that the calls put to run; empty without --gpu-times
-- column: alg_gb_per_s number    algorithm bandwidth: bytes by time of the GPU
-- column: bus_gb_per_s number    bus bandwidth: algorithm bandwidth times a factor of operation and ranks, comparable
--   with the hardware's
WITH known AS MATERIALIZED (
  SELECT function_id AS id, name, counted, whole, factor FROM comm_functions WHERE counted IS NOT NULL
), told AS MATERIALIZED (
  SELECT c.session, c.id, c.pid, c.parent_id, c.duration, c.function_id
  -- without such functions no call is read
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c WHERE c.failed = 0 AND c.function_id IN (SELECT id FROM known)
), nested AS MATERIALIZED (
  SELECT call_id AS id FROM library_nesting
  WHERE call_id IN (SELECT id FROM told) AND outer_id IN (SELECT id FROM told)
), maker AS MATERIALIZED (
  -- of a communicator. Without the number of its ranks a handle means a communicator of unknown size, or none
  SELECT function_id AS id, ranks FROM comm_functions WHERE makes
), made AS MATERIALIZED (
  SELECT c.session, c.pid, c.id, coalesce(json_extract(c.args, '$.newcomm'), json_extract(c.args, '$.comm')) AS comm,
    json_extract(c.args, '$.' || m.ranks) AS ranks
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c JOIN maker m ON m.id = c.function_id WHERE c.failed = 0
), chosen AS (
  SELECT t.session, t.id, t.pid, t.duration, t.function_id, json_extract(c.args, '$.comm') AS comm,
    json_extract(c.args, '$.datatype', '$.op', '$.' || k.counted) AS facts
  FROM told t JOIN known k ON k.id = t.function_id JOIN calls c ON c.id = t.id
  WHERE t.id NOT IN (SELECT id FROM nested) /*? AND t.session = :session */ /*? AND t.pid = :pid */
    /*? AND k.name REGEXP :name */
    /*? AND (t.session, t.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
), event AS (  -- a handle is used again, so the last call about it before an operation holds
  SELECT session, pid, comm, id, id AS made, NULL AS duration, NULL AS function_id, NULL AS facts FROM made
    WHERE comm NOT GLOB '[[]*'
  UNION ALL
  SELECT m.session, m.pid, e.value, m.id, m.id, NULL, NULL, NULL FROM made m, json_each(m.comm) e
    WHERE m.comm GLOB '[[]*'
  UNION ALL
  SELECT session, pid, comm, id, NULL, duration, function_id, facts FROM chosen
), matched AS (
  SELECT session, pid, id, duration, function_id, facts,
    max(made) OVER (PARTITION BY session, pid, comm ORDER BY id) AS made FROM event
), alike AS MATERIALIZED (
  SELECT x.session, x.pid, x.function_id, m.ranks, x.facts, count(*) AS calls, sum(x.duration) AS duration,
    count(s.gpu_ns) AS timed, sum(s.gpu_ns) AS gpu_ns
  FROM matched x LEFT JOIN made m ON m.id = x.made LEFT JOIN library_work s ON s.call_id = x.id
  WHERE x.function_id IS NOT NULL
  GROUP BY x.session, x.pid, x.function_id, m.ranks, x.facts
), read AS (
  SELECT a.*, k.name, k.whole, k.factor, json_extract(a.facts, '$[0]') AS type,
    replace(json_extract(a.facts, '$[1]'), 'nccl', '') AS op, CAST(json_extract(a.facts, '$[2]') AS INTEGER) AS n,
         a.duration - coalesce(a.calls * c.own_ns, 0) AS net
  FROM alike a JOIN known k ON k.id = a.function_id LEFT JOIN library_costs c ON c.session = a.session AND c.pid = a.pid
    AND c.function_id = a.function_id
), sized AS (
  SELECT x.*, coalesce(e.type, x.type) AS type_name, e.bytes * x.n * iif(x.whole, x.ranks, 1) AS bytes, CASE x.factor
    WHEN 2 THEN 2.0 * (x.ranks - 1) / x.ranks WHEN 1 THEN 1.0 * (x.ranks - 1) / x.ranks ELSE 1.0 END AS bus
  FROM read x LEFT JOIN element_types e ON e.word = x.type
)
SELECT substr(name, 5) AS operation, pid, (SELECT max(r.rank) FROM process_ranks r WHERE r.session = sized.session
  AND r.pid = sized.pid) AS rank, ranks, type_name AS type, op, n AS count, bytes, sum(calls) AS calls,
       bytes * sum(calls) AS total_bytes, max(sum(net), 0) AS total_ns, sum(timed) AS timed, sum(gpu_ns) AS gpu_ns,
         round(1.0 * bytes * sum(timed) / nullif(sum(gpu_ns), 0), 2) AS alg_gb_per_s,
       round(bus * bytes * sum(timed) / nullif(sum(gpu_ns), 0), 2) AS bus_gb_per_s
FROM sized GROUP BY session, operation, pid, ranks, type, op, n
