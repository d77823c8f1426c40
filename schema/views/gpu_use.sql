-- How processes used the CPU and the GPU.

CREATE VIEW process_use AS
SELECT p.session, p.pid, u.process AS process_id, u.sec, u.calls, u.errors, u.launches, u.failed_launches,
       u.first_launch, u.last_launch
FROM process_use_ u
JOIN process_ p ON p.id = u.process;

CREATE VIEW cpu_samples AS
SELECT p.session, p.pid, c.process AS process_id, c.ts AS start, c.cpu_ns
FROM cpu_sample_ c
JOIN process_ p ON p.id = c.process;

-- What hipGetDeviceCount said, NULL where it failed for another reason than that there is no device. It reads the
-- arguments of all calls, so it does only if that function was called.
CREATE VIEW device_count_answers AS
SELECT f.session, t.process AS process_id, a.call AS call_id,
       CASE
         WHEN c.result = 100 THEN 0
         WHEN a.args GLOB '*"count":[0-9]*' THEN CAST(substr(a.args, instr(a.args, '"count":') + 8) AS INTEGER) END
         AS devices
FROM arg_ a
JOIN call_ c ON c.id = a.call
JOIN thread_ t ON t.id = c.thread
JOIN function_ f ON f.id = c.fn
WHERE f.name = 'hipGetDeviceCount'
  AND EXISTS (SELECT 1 FROM function_ g JOIN call_stat_ x ON x.fn = g.id WHERE g.name = 'hipGetDeviceCount');

-- The facts that verdicts are made from. Without JSON functions, which SQLite refuses in views of an untrusted file. A
-- forked process that runs its parent's program has the parent's libraries.
CREATE VIEW gpu_use AS
WITH RECURSIVE ran(process) AS (SELECT DISTINCT process FROM lifecycle_ WHERE kind = 'exec' AND process IS NOT NULL),
image(process, holder) AS (
  SELECT id, id
  FROM process_
  WHERE parent IS NULL OR id IN (SELECT process FROM ran)
  UNION ALL
  SELECT c.id, i.holder
  FROM image i
  JOIN process_ c ON c.parent = i.process
  WHERE c.id NOT IN (SELECT process FROM ran)),
loaded AS (
  SELECT process, path, role, sites
  FROM module_
  UNION ALL
  SELECT i.process, m.path, m.role, m.sites
  FROM image i
  JOIN process_ p ON p.id = i.process
  JOIN module_ m ON m.process = i.holder
  WHERE i.holder <> i.process AND m.ts <= p.ts),
library AS (
  SELECT process, min(CASE role WHEN 'hip' THEN path END) AS hip,
         sum(CASE role WHEN 'hip' THEN sites ELSE 0 END) AS sites,
         min(CASE WHEN path GLOB '*libtorch_cpu.so*' THEN path END) AS torch,
         min(CASE WHEN path GLOB '*libtorch_hip.so*' OR path GLOB '*libtorch_cuda.so*' THEN path END) AS torch_gpu,
         min(CASE
               WHEN path GLOB '*libcuda.so*' OR path GLOB '*libcudart.so*' OR path GLOB '*libnvcuda.so*'
                 THEN path END) AS cuda
  FROM loaded
  GROUP BY process),
other AS MATERIALIZED (  -- functions of libraries above HIP and below it
  SELECT id, name
  FROM function_
  WHERE api = 'hsa' OR grp IN ('comm', 'blas', 'dnn', 'fft', 'sparse', 'solver', 'rand', 'ops', 'ops-redispatch')),
work AS (
  SELECT t.process, sum(x.n) AS calls, sum(CASE WHEN x.fn IN (SELECT id FROM other) THEN 0 ELSE x.n END) AS hip_calls,
         sum(CASE
               WHEN f.kind IN ('alloc', 'host_alloc', 'copy', 'set', 'module_load') THEN x.n - x.errors
               ELSE 0 END) AS moved,
         sum(CASE WHEN f.name = 'hipGetDeviceCount' THEN x.n ELSE 0 END) AS counted
  FROM call_stat_ x
  JOIN thread_ t ON t.id = x.thread
  JOIN function_ f ON f.id = x.fn AND f.api <> 'nvml' AND f.grp <> 'marker'
  GROUP BY t.process),
launch AS (
  SELECT process, sum(launches) AS launches, sum(failed_launches) AS failed_launches, min(first_launch) AS first_launch,
         max(last_launch) AS last_launch, max(sec) AS last_sec
  FROM process_use_
  GROUP BY process),
cpu AS (SELECT process, max(cpu_ns) AS cpu_ns, max(ts) AS ts FROM cpu_sample_ GROUP BY process),
cut AS MATERIALIZED (
  SELECT process_id AS process, min(start) AS ts
  FROM narrowings
  WHERE word = 'window' AND "end" IS NULL
  GROUP BY process_id),
failed AS (
  SELECT process_id, sum(repeats) AS failures,
         sum(CASE WHEN name IN (SELECT name FROM other) THEN 0 ELSE repeats END) AS hip_failures,
           min(id) AS first_failure, max(code = 100) AS no_device
  FROM failures
  WHERE NOT normal AND name NOT GLOB 'nvml*'
  GROUP BY process_id)
SELECT p.session, p.id AS process_id, p.pid, p.parent AS parent_id, p.command, p.ts AS start,
       min(coalesce(p.ts_end, s.end_ns - s.start_ns,
                    max(coalesce((l.last_sec + 1) * 1000000000, 0), coalesce(c.ts, 0), p.ts)),
           coalesce(k.ts, 9223372036854775807)) AS until,
       p.exit_code, p.exit_signal, i.holder <> p.id AS is_copy,
       EXISTS (SELECT 1
               FROM process_ k
               WHERE k.parent = p.id AND k.id IN (SELECT process FROM ran)
                 AND k.ts >= coalesce((SELECT max(x.ts)
                                       FROM lifecycle_ x
                                       WHERE x.process = p.id AND x.kind = 'exec'), p.ts)) AS starts_others,
       p.parent IS NOT NULL AND coalesce(p.exit_signal, 0) IN (0, 13, 15)
       AND (p.ts_end - p.ts < 5000000000 OR p.exe GLOB '*/*sh') AND b.torch IS NULL AND b.cuda IS NULL
       AND NOT EXISTS (SELECT 1 FROM module_ m WHERE m.process = p.id AND m.role = 'hip')
       AND NOT EXISTS (SELECT 1
                       FROM call_stat_ x
                       JOIN thread_ t ON t.id = x.thread
                       WHERE t.process = p.id) AS is_minor,
       p.exe GLOB '*/*sh' AS is_shell,
       (SELECT x.detail
        FROM lifecycle_ x
        WHERE x.process = p.id AND x.kind = 'unwatched'
        ORDER BY x.id DESC
        LIMIT 1) AS unwatched,
       b.hip AS hip_library, coalesce(b.sites, 0) AS functions_watched, b.torch AS torch_library,
       b.torch_gpu AS torch_gpu_library, b.cuda AS cuda_library, coalesce(w.calls, 0) AS calls,
       coalesce(f.failures, 0) AS failures, coalesce(w.hip_calls, 0) AS hip_calls,
       coalesce(f.hip_failures, 0) AS hip_failures, f.first_failure AS first_failure_id,
       coalesce(w.moved, 0) AS allocations_and_copies, coalesce(l.launches, 0) AS launches,
       coalesce(l.failed_launches, 0) AS failed_launches, l.first_launch, l.last_launch, c.cpu_ns,
       c.cpu_ns - (SELECT max(y.cpu_ns)
                   FROM cpu_sample_ y
                   WHERE y.process = p.id AND y.ts <= l.last_launch) AS cpu_after_launches_ns,
       CASE
         WHEN w.counted > 0
           THEN (SELECT o.devices
                 FROM device_count_answers o
                 WHERE o.process_id = p.id
                 ORDER BY o.call_id
                 LIMIT 1) END AS devices_offered,
       coalesce(f.no_device, 0) AS no_device,
       (SELECT group_concat(x.detail, '; ')
        FROM lifecycle_ x
        WHERE x.process = p.id AND x.kind = 'device-refused') AS refused,
       (SELECT x.detail FROM lifecycle_ x WHERE x.process = p.id AND x.kind = 'device-missing' LIMIT 1) AS missing,
       (SELECT group_concat(name || '=' || substr(rest, 1, instr(rest, '"') - 1), ' ')
        FROM (
          SELECT column1 AS name, substr(p.env, instr(p.env, '"' || column1 || '":"') + length(column1) + 4) AS rest
          FROM (VALUES ('ROCR_VISIBLE_DEVICES'), ('HIP_VISIBLE_DEVICES'), ('CUDA_VISIBLE_DEVICES'))
          WHERE instr(p.env, '"' || column1 || '":"') > 0)) AS visible_devices
FROM process_ p
JOIN session_ s ON s.id = p.session
LEFT JOIN image i ON i.process = p.id
LEFT JOIN library b ON b.process = p.id
LEFT JOIN work w ON w.process = p.id
LEFT JOIN launch l ON l.process = p.id
LEFT JOIN cpu c ON c.process = p.id
LEFT JOIN cut k ON k.process = p.id
LEFT JOIN failed f ON f.process_id = p.id;
