-- Which library answers.

CREATE VIEW bindings AS
SELECT b.module AS module_id, p.session, p.pid, m.path AS module, b.api,
       CASE b.state WHEN 0 THEN 'bound' WHEN 1 THEN 'not called yet' ELSE 'not found' END AS state, t.id AS library_id,
       t.path AS library, nullif(coalesce(o.version, t.version), '') AS version, o.rocm, t.build_id, o.rule AS found_by,
       a.path AS asked_by, b.n AS functions, b.names, b.ts AS read_at
FROM binding_ b
JOIN module_ m ON m.id = b.module
JOIN process_ p ON p.id = m.process
LEFT JOIN module_ t ON t.id = b.target
LEFT JOIN origin_ o ON o.module = b.target
LEFT JOIN module_ a ON a.id = o.asker;

CREATE VIEW module_origins AS
SELECT m.id AS module_id, p.session, p.id AS process_id, p.pid,
       (SELECT count(*) FROM lifecycle_ l WHERE l.process = p.id AND l.kind = 'exec' AND l.ts <= m.ts) AS program,
       m.path, o.family, o.kind, nullif(coalesce(o.version, m.version), '') AS version, o.rocm, m.build_id, o.space,
       o.rule AS found_by, a.path AS asked_by, o.rpath, o.runpath, o.not_taken, m.ts AS start, m.ts_end AS "end"
FROM origin_ o
JOIN module_ m ON m.id = o.module
JOIN process_ p ON p.id = m.process
LEFT JOIN module_ a ON a.id = o.asker;

-- Unusual bindings; schema/*findings/environment.sql take their rows from here.
CREATE VIEW environment_findings AS
WITH lib AS MATERIALIZED (
  SELECT *, path || coalesce(' (' || version || ')', '') AS label
  FROM module_origins
  WHERE space = 0),
copy AS (  -- files of one library that were loaded at the same time
  SELECT DISTINCT a.session, a.process_id, a.pid, a.program, a.family, a.kind, a.path, a.label
  FROM lib a
  JOIN lib b
    ON b.process_id = a.process_id AND b.program = a.program AND b.family = a.family AND b.path <> a.path
      AND a.start < coalesce(b."end", 9e18) AND b.start < coalesce(a."end", 9e18)
  ORDER BY a.path),
release AS (
  SELECT session, process_id, pid, program, rocm, count(*) AS libraries, group_concat(DISTINCT label) AS labels
  FROM (SELECT * FROM lib WHERE rocm IS NOT NULL ORDER BY path)
  GROUP BY process_id, program, rocm),
env AS (
  SELECT p.id AS process_id, p.session, p.pid, e.key AS name, e.value
  FROM process_ p, json_each(p.env) e
  WHERE e.key IN ('LD_PRELOAD', 'LD_AUDIT') AND e.value <> ''
    AND p.id IN (SELECT process_id FROM lib WHERE kind IN ('rocm', 'cuda')))
SELECT session, pid, 'several-copies' AS kind, iif(kind IN ('rocm', 'cuda'), 'warning', 'info') AS severity,
       family AS subject,
       printf('%d copies of %s are loaded in one process: %s.', count(*), family, group_concat(label, ', ')) AS text,
       CASE kind
         WHEN 'openmp'
           THEN 'Each copy starts its own threads, so there may be more threads than cores. If the program is slow on '
                || 'the CPU: make all packages use one OpenMP library, or set OMP_NUM_THREADS.'
         WHEN 'c++'
           THEN 'What was built against the newer copy can fail with the older one (version GLIBCXX_... not found, '
                || 'crashes in exceptions). With conda beside the system''s ROCm: bring conda''s libstdcxx-ng up to '
                || 'date, and keep conda''s lib folder out of LD_LIBRARY_PATH.'
         ELSE 'Each copy has its own devices, streams and memory: a pointer or stream of one means nothing to the '
              || 'other. fade-query redirects shows which module uses which copy; make all of them use one, or remove '
              || 'the package that brings the other.' END AS advice
FROM copy
GROUP BY process_id, program, family
UNION ALL
SELECT session, pid, 'mixed-openmp', 'warning', group_concat(DISTINCT family),
       printf('Different OpenMP libraries are loaded in one process: %s.', group_concat(DISTINCT label)),
       'Each of them starts its own threads and assumes it has the whole machine to itself; libiomp5 and libomp may '
       || 'stop the program ("already initialized"). Install packages that use the same one; KMP_DUPLICATE_LIB_OK=TRUE '
       || 'only hides it.'
FROM (SELECT * FROM lib WHERE kind = 'openmp' ORDER BY path)
GROUP BY process_id, program
HAVING count(DISTINCT family) > 1
UNION ALL
SELECT session, pid, 'mixed-rocm', 'warning', 'ROCm ' || group_concat(rocm, ', '),
       printf('Libraries of %d releases of ROCm are loaded in one process: %s.', count(*),
              group_concat(printf('%s: %s', rocm, labels), '; ')),
       'AMD tests releases as a whole; mixed ones fail in odd ways or run slower. fade-query modules shows the file of '
       || 'each: wheels bring their own, LD_LIBRARY_PATH and /opt/rocm add others.'
FROM (SELECT * FROM release ORDER BY rocm)
GROUP BY process_id, program
HAVING count(*) > 1
UNION ALL
SELECT b.session, b.pid, 'interposed', 'warning', b.library,
       printf('%d %s function%s of %s%s answered by %s%s, which is no %s: %s.', max(b.functions), b.api,
              iif(max(b.functions) = 1, '', 's'), min(b.module),
              iif(count(DISTINCT b.module) > 1, printf(' and %d others', count(DISTINCT b.module) - 1), '')
              || iif(max(b.functions) = 1, ' is', ' are'),
              b.library, CASE b.found_by WHEN 'LD_PRELOAD' THEN ' (LD_PRELOAD)' ELSE '' END,
              iif(b.api = 'hip', 'HIP runtime', 'runtime compiler'), max(b.names)),
       'A library sits between the program and the runtime. If you do not know it, check LD_PRELOAD and the libraries '
       || 'that the program links with. Times and results are those of the runtime, if that library calls it.'
FROM bindings b
JOIN module_ t ON t.id = b.library_id
WHERE b.api IN ('hip', 'hiprtc') AND b.state = 'bound' AND coalesce(t.role, '') NOT IN ('hip', 'hiprtc')
GROUP BY b.session, b.pid, b.api, b.library
UNION ALL
SELECT session, pid, 'other-copy-not-taken', iif(found_by = 'RPATH', 'warning', 'info'), path,
       printf('%s was taken from %s %s. Not taken: %s.', family, path,
              CASE found_by
                WHEN 'RPATH' THEN printf('because of the RPATH of %s', asked_by)
                WHEN 'RUNPATH' THEN printf('because of the RUNPATH of %s', asked_by)
                WHEN 'system' THEN 'as the system''s default'
                WHEN 'its path' THEN 'because the library that needs it has its full path'
                ELSE 'by the program itself (dlopen)' END,
              not_taken),
       CASE found_by
         WHEN 'RPATH'
           THEN printf('An RPATH comes before LD_LIBRARY_PATH. To use the other one: patchelf --remove-rpath %s, or a '
                       || 'build of it that was made for the other one.',
                       asked_by)
         ELSE 'To use the other one, put its folder into LD_LIBRARY_PATH, which comes before RUNPATH and the system''s '
              || 'folders.' END
FROM lib
WHERE not_taken IS NOT NULL AND kind IN ('rocm', 'cuda') AND found_by NOT IN ('LD_LIBRARY_PATH', 'LD_PRELOAD')
GROUP BY process_id, program, path
UNION ALL
SELECT session, pid, iif(name = 'LD_PRELOAD', 'preloaded', 'audited'), 'info', name,
       printf('%s=%s was set when the program began.', name, value),
       iif(name = 'LD_PRELOAD',
           'These libraries are asked first for every function. fade-query redirects shows which functions of the GPU '
           || 'stack they answer.',
           'An auditor sees every library that is loaded and may replace it; ZLUDA''s zluda_ld does so with the CUDA '
           || 'libraries.')
FROM env;
