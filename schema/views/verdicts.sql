-- Was the GPU used, and what failed first.

-- blocked: the first failure of a call that would have given the GPU work. ended: the first such failure after which no
-- launch succeeded. Each step is materialized: SQLite would copy its CASEs into each place that names them, and that
-- takes longer to compile than to run. Each place that names a step compiles its views again, so few places do.
CREATE VIEW verdicts AS
WITH u AS MATERIALIZED (
  SELECT *, max(launches > 0) OVER (PARTITION BY session) AS session_launches,
         max(hip_library IS NOT NULL) OVER (PARTITION BY session) AS session_loads
  FROM gpu_use),
launched AS MATERIALIZED (SELECT process, max(last_launch) AS last FROM process_use_ GROUP BY process),
bad AS MATERIALIZED (SELECT * FROM failures WHERE NOT normal AND name NOT GLOB 'nvml*'),
-- which asks, and does no work
blocked AS MATERIALIZED (
  SELECT process_id, min(id) AS id
  FROM bad
  WHERE kind IN ('launch', 'graph', 'alloc', 'copy', 'set', 'module_load', 'get_function', 'stream_create')
    OR class IN ('sticky', 'binary')
  GROUP BY process_id),
ended AS MATERIALIZED (
  SELECT b.process_id, min(b.id) AS id
  FROM bad b
  JOIN launched l ON l.process = b.process_id
  WHERE b.last > l.last
    AND (b.kind IN ('launch', 'graph', 'alloc', 'module_load', 'get_function')
         OR b.class IN ('sticky', 'binary', 'device', 'memory'))
  GROUP BY b.process_id),
known AS (  -- of launches, and (partly) of all calls of HIP
  SELECT process_id, max(CASE WHEN topic = 'launches' THEN complete END) AS complete,
         max(CASE WHEN topic = 'launches' THEN level END) AS level,
         max(CASE WHEN topic = 'launches' THEN narrowed END) AS narrowed,
         max(CASE WHEN topic = 'launches' THEN why END) AS why,
         max(CASE WHEN topic = 'launches' THEN until END) AS until,
         max(CASE WHEN topic = 'hip' AND NOT complete THEN why END) AS partly
  FROM watched
  WHERE topic IN ('launches', 'hip')
  GROUP BY process_id),
w AS MATERIALIZED (
  SELECT process_id, complete, level, narrowed, why, until, partly,
         narrowed GLOB '*events*' OR narrowed GLOB '*include*' OR narrowed GLOB '*exclude*' AS filtered,
         narrowed GLOB '*window*' OR narrowed GLOB '*unclean*' AS cut_off,
         -- launches may be missing between those that were seen
         narrowed GLOB '*events*' OR narrowed GLOB '*clude*' OR narrowed GLOB '*drops*' OR narrowed GLOB '*vanished*'
         OR narrowed GLOB '*return sites*' OR narrowed GLOB '*refused*'
         OR (NOT complete AND narrowed GLOB '*size limit*') AS open_end
  FROM known),
seen AS MATERIALIZED (
  SELECT u.*, w.filtered, w.open_end, w.narrowed, w.why AS unseen, w.partly,
         coalesce(e.id, iif(u.launches = 0, coalesce(k.id, u.first_failure_id), NULL)) AS failure_id,
         iif(w.open_end, NULL, e.id) AS ended_id, k.id AS blocked_id,
         coalesce(u.exit_signal, 0) IN (4, 6, 7, 8, 11) AS crashed,
         coalesce(u.exit_signal, 0) > 0 OR coalesce(u.exit_code, 0) > 0 AS ended_badly,
         coalesce(u.exit_signal, 0) IN (4, 6, 7, 8, 11)
         OR (coalesce(u.exit_code, 0) > 0 AND u.exit_code NOT IN (129, 130, 137, 143)) AS failed_itself,
         -- not told to end
         u.no_device OR coalesce(u.devices_offered = 0, 0) AS none_seen,
         -- A shell is there to start programs; any other program may run a helper and work itself.
         u.hip_library IS NULL AND u.starts_others AND u.torch_library IS NULL
         AND (u.is_shell OR EXISTS (SELECT 1 FROM u o WHERE o.parent_id = u.process_id
                                       AND NOT o.is_minor)) AS is_launcher,
         CASE
           WHEN u.launches > 0 THEN NULL
           WHEN EXISTS (SELECT 1
                        FROM drop_ d
                        WHERE d.session = u.session
                          AND d.reason IN ('the database could not be written',
                                           'another process had the database locked'))
             THEN 'the database could not be written, and launches may be among what is missing'
           -- calls are written with each batch, sums about every second
           WHEN NOT EXISTS (SELECT 1 FROM call_stat_) AND EXISTS (SELECT 1 FROM call_)
             THEN 'its sums are not written yet: fade was killed, or is still recording'
           WHEN EXISTS (SELECT 1 FROM lifecycle_ x WHERE x.process = u.process_id AND x.kind = 'vanished')
             THEN 'it took out breakpoints, and launches may be among what is missing'
           WHEN w.complete OR u.unwatched IS NOT NULL THEN NULL
           WHEN u.hip_library IS NULL
             THEN iif(w.cut_off, 'no HIP library was loaded as long as fade watched; ' || w.why, NULL)
           WHEN w.level = 'not' THEN 'HIP was loaded, but kernel launches were not recorded: ' || w.why
           ELSE 'no launch of a kernel was seen, and not all were watched: ' || w.why END AS blind
  FROM u
  LEFT JOIN w ON w.process_id = u.process_id
  LEFT JOIN ended e ON e.process_id = u.process_id
  LEFT JOIN blocked k ON k.process_id = u.process_id),
timed AS MATERIALIZED (
  SELECT x.*, b.name AS failed_function, coalesce(b.error, b.code) AS failed_result, b.class AS failed_class,
         b.meaning AS failed_meaning, b.advice AS failed_advice, b.code AS failed_code,
         b.injected AS failed_injected,
         -- of --inject: it failed that call, or hides devices
         iif(b.injected,
             (SELECT i.spec
              FROM injection_hit_ h
              JOIN injection_ i ON i.id = h.rule
              JOIN error_ e ON e.id = x.failure_id AND e.fn = h.fn
              WHERE i.session = x.session AND h.action GLOB '*error'
              ORDER BY h.action = 'last error', h.id
              LIMIT 1),
             (SELECT i.spec
              FROM injection_hit_ h
              JOIN injection_ i ON i.id = h.rule
              WHERE i.session = x.session AND i.spec GLOB 'hide-device=*'
              LIMIT 1)) AS rule,
         CASE WHEN b.start > coalesce(x.last_launch, -1) THEN b.start ELSE b.last END AS failed_at
  FROM seen x
  LEFT JOIN bad b ON b.id = x.failure_id),
judged AS MATERIALIZED (
  SELECT t.*,
         CASE
           WHEN blind IS NOT NULL AND NOT crashed AND NOT (blocked_id IS NOT NULL AND failed_itself) THEN 'UNWATCHED'
           WHEN hip_library IS NULL AND unwatched IS NOT NULL AND unwatched NOT GLOB '*static program*'
                AND unwatched NOT GLOB '*32-bit*'
             THEN 'UNWATCHED'
           WHEN hip_library IS NULL THEN 'NOT_LOADED'
           WHEN calls = 0 THEN 'LOADED_UNUSED'
           WHEN launches > 0 AND ended_id IS NOT NULL AND NOT failed_itself AND until - failed_at >= 1000000000
                AND (until - failed_at) * 10 >= until - first_launch
             THEN 'STOPPED_USING'
           WHEN launches > 0 AND (crashed OR (ended_id IS NOT NULL AND (failed_itself OR failed_class = 'sticky')))
             THEN 'FAILED'
           WHEN launches > 0 THEN 'USED'
           WHEN blocked_id IS NOT NULL OR crashed THEN 'FAILED'
           WHEN allocations_and_copies > 0 THEN 'ALLOCATED_NO_LAUNCH'
           ELSE 'QUERIED_ONLY' END AS verdict,
         -- Why HIP had no device to offer; NULL where it had one.
         CASE
           WHEN launches > 0 OR NOT (none_seen OR coalesce(failed_class, '') = 'device') THEN NULL
           WHEN failed_injected THEN 'rule'
           WHEN refused IS NOT NULL THEN 'permission'
           WHEN rule IS NOT NULL THEN 'rule'
           WHEN visible_devices IS NOT NULL THEN 'hidden'
           WHEN missing IS NOT NULL THEN 'no node'
           ELSE 'no device' END AS lack
  FROM timed t),
told AS MATERIALIZED (
  SELECT j.*,
         iif(lack = 'no device',
             (SELECT group_concat(x.detail, '; ')
              FROM lifecycle_ x
              WHERE x.process = j.process_id AND x.kind = 'device-closed'),
             NULL) AS closed,
         -- nobody forbids it but the kernel
         -- One of the processes of a program that uses the GPU elsewhere: compile workers and the like.
         verdict = 'QUERIED_ONLY' AND parent_id IS NOT NULL
         AND session_launches AS is_helper,
         EXISTS (SELECT 1
                 FROM call_stat_ x
                 JOIN thread_ t ON t.id = x.thread
                 JOIN function_ f ON f.id = x.fn
                 WHERE t.process = j.process_id AND f.api = 'hiprtc') AS compiled,
         CASE
           WHEN hip_library IS NULL
             THEN NOT is_launcher AND NOT is_minor AND NOT session_loads
           ELSE NOT (is_copy AND calls = 0) END AS working
  FROM judged j)
SELECT session, process_id, pid, command, verdict, working,
       coalesce(exit_signal, 0) IN (0, 13, 15)
       AND (is_minor OR is_helper OR (verdict = 'LOADED_UNUSED' AND is_copy)) AS helper, is_launcher AS launcher,
       CASE
         WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL THEN blind
         WHEN verdict = 'UNWATCHED' THEN 'it was not watched: ' || unwatched
         WHEN verdict = 'NOT_LOADED' AND torch_library IS NOT NULL AND torch_gpu_library IS NULL
           THEN 'its PyTorch is a CPU-only build'
         WHEN verdict = 'NOT_LOADED' AND torch_gpu_library IS NOT NULL
           THEN 'its PyTorch is built for GPUs, but no HIP library was loaded'
         WHEN verdict = 'NOT_LOADED' AND is_launcher THEN 'it only started other programs'
         WHEN verdict = 'NOT_LOADED' AND cuda_library IS NOT NULL THEN 'it loaded CUDA''s library, and no HIP'
         WHEN verdict = 'NOT_LOADED' AND unwatched IS NOT NULL THEN unwatched
         WHEN verdict = 'NOT_LOADED' THEN 'no HIP library was ever loaded'
         WHEN verdict = 'LOADED_UNUSED' AND functions_watched = 0
           THEN 'HIP was loaded, but none of its functions was recorded'
         WHEN verdict = 'LOADED_UNUSED' AND is_copy THEN 'a forked copy of its parent, which called nothing itself'
         WHEN verdict = 'LOADED_UNUSED' THEN 'HIP was loaded, but no recorded function was called'
         WHEN verdict = 'USED' THEN 'kernels were launched' || iif(failures > 0, ', though some calls failed', '')
         WHEN verdict = 'STOPPED_USING'
           THEN printf('after %s returned %s no further kernel was launched, and the process ran on', failed_function,
                       failed_result)
         WHEN lack = 'permission' THEN 'the process may not open the GPU''s device nodes'
         WHEN lack = 'rule' THEN 'HIP saw no GPU: fade was asked for that (--inject ' || rule || ')'
         WHEN lack = 'hidden' THEN 'HIP saw no GPU, and ' || visible_devices || ' says which ones it may see'
         WHEN lack = 'no node' THEN 'HIP saw no GPU: there is no /dev/kfd where the process looks'
         WHEN lack = 'no device' THEN 'HIP saw no GPU'
         WHEN verdict = 'FAILED' AND failure_id IS NULL
           THEN 'it died of '
                || coalesce((SELECT n.name FROM signal_name_ n WHERE n.signal = exit_signal), 'signal ' || exit_signal)
         WHEN verdict = 'ALLOCATED_NO_LAUNCH' THEN 'memory was allocated or copied, but no kernel was launched'
         WHEN failure_id IS NOT NULL
           THEN printf('%s returned %s', failed_function, failed_result) || coalesce(': ' || failed_meaning, '')
         WHEN is_helper AND compiled THEN 'a helper that compiled kernels; another process gave the GPU work'
         WHEN is_helper THEN 'a helper that asked about GPUs; another process gave the GPU work'
         WHEN compiled THEN 'it compiled kernels and gave the GPU no work'
         WHEN devices_offered > 0
           THEN printf('HIP offered %d GPU%s, and the program did not use %s', devices_offered,
                       iif(devices_offered = 1, '', 's'), iif(devices_offered = 1, 'it', 'them'))
         ELSE 'it asked about GPUs and did nothing with them' END AS reason,
       substr(iif(hip_library IS NULL, '; no HIP library mapped',
                  printf('; %s: %d %s, %d of them failed', hip_library, hip_calls,
                         iif(hip_calls = 1, 'call', 'calls'), hip_failures))
              || iif(hip_library IS NULL AND torch_library IS NOT NULL,
                     '; mapped: ' || torch_library
                     || iif(torch_gpu_library IS NULL, ', and neither libtorch_hip nor libtorch_cuda',
                            ', ' || torch_gpu_library),
                     '') || iif(hip_library IS NULL AND cuda_library IS NOT NULL, '; mapped: ' || cuda_library, '')
              || iif(launches > 0,
                     printf('; %d %s (%.3f to %.3f s); %s from %.3f to %.3f s', launches,
                            iif(launches = 1, 'launch', 'launches'), first_launch / 1e9, last_launch / 1e9,
                            iif(coalesce(narrowed, '') GLOB '*attach*' OR narrowed GLOB '*delay*'
                                OR narrowed GLOB '*window*' OR narrowed GLOB '*unclean*',
                                'fade recorded the process', 'the process ran'), start / 1e9, until / 1e9),
                     '')
              || iif(failed_launches > 0,
                     printf('; %d %s failed', failed_launches, iif(failed_launches = 1, 'launch', 'launches')), '')
              || iif(verdict = 'STOPPED_USING', printf('; the failure was at %.3f s', failed_at / 1e9), '')
              || iif(cpu_after_launches_ns IS NOT NULL AND verdict IN ('USED', 'STOPPED_USING', 'FAILED')
                     AND until - last_launch > 1000000000 AND coalesce(narrowed, '') NOT GLOB '*size limit*',
                     printf('; about %.1f s of CPU time in the %.1f s after the last launch',
                            cpu_after_launches_ns / 1e9, (until - last_launch) / 1e9),
                     '') || iif(launches = 0 AND cpu_ns > 0, printf('; %.1f s of CPU time', cpu_ns / 1e9), '')
              || iif(lack IS NOT NULL,
                     coalesce('; ' || refused, '') || coalesce('; ' || missing, '') || coalesce('; ' || closed, '')
                     || coalesce('; ' || visible_devices, ''),
                     '')
              || iif(ended_badly,
                     iif(exit_signal > 0,
                         '; ended by '
                         || coalesce((SELECT n.name FROM signal_name_ n WHERE n.signal = exit_signal),
                                     'signal ' || exit_signal),
                         printf('; exit status %d', exit_code)),
                     '')
              || coalesce('; only a part of the run was recorded: ' || partly, ''),
              3) AS evidence,
       CASE
         WHEN verdict = 'USED' OR is_launcher OR is_helper OR NOT working THEN NULL
         WHEN verdict = 'UNWATCHED' AND blind GLOB 'the database*'
           THEN 'fade-query drops shows how much is missing, and why; record again with enough disk space and no other '
                || 'process that locks the database.'
         WHEN verdict = 'UNWATCHED' AND blind GLOB 'its sums*'
           THEN 'Ask again in 2 s; fade-query calls shows the calls.'
         WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL AND filtered
           THEN 'Record again without -e, --include and --exclude, or with the group kernel.'
         WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL AND narrowed GLOB '*vanished*'
           THEN 'fade-query lifecycle shows which breakpoints, and when.'
         WHEN verdict = 'UNWATCHED' AND blind IS NOT NULL
           THEN 'Record the whole life of the process: start it with fade-run, without --delay and -d; or attach for '
                || 'longer.'
         WHEN verdict = 'UNWATCHED'
           THEN 'fade-query lifecycle shows why; record a program that runs as you, and without --exe or --only-rank.'
         WHEN verdict = 'NOT_LOADED' AND torch_library IS NOT NULL AND torch_gpu_library IS NULL
           THEN 'Install the ROCm build of PyTorch; python3 -c ''import torch; print(torch.version.hip)'' must not '
                || 'print None.'
         WHEN verdict = 'NOT_LOADED' AND cuda_library IS NOT NULL
           THEN 'The program was built for CUDA: use a build for ROCm, or run it through ZLUDA.'
         WHEN verdict IN ('NOT_LOADED', 'LOADED_UNUSED', 'QUERIED_ONLY', 'ALLOCATED_NO_LAUNCH') AND lack IS NULL
              AND failure_id IS NULL AND exit_code > 0 AND failed_itself
           THEN printf('The program failed by itself, with exit status %d: what it wrote last says why.', exit_code)
         WHEN verdict = 'NOT_LOADED'
           THEN 'fade-query modules shows what was loaded; use a build of the program for ROCm, and check whether it '
                || 'needs an option to use the GPU.'
         WHEN verdict = 'LOADED_UNUSED' AND functions_watched = 0
           THEN 'Record again without -e, --include and --exclude.'
         WHEN verdict = 'LOADED_UNUSED'
           THEN 'Loading HIP is not using it: tell the program to use the GPU'
                || iif(torch_library IS NULL, '.', ' (PyTorch: .to("cuda")).')
         WHEN verdict = 'STOPPED_USING'
           THEN 'The program went on without the GPU. fade-query first-error shows what failed. '
                || coalesce(failed_advice, '')
         WHEN lack = 'permission'
           THEN 'Add the user to the group of these nodes (usermod -aG render,video USER, then log in again); in a '
                || 'container pass --device /dev/kfd --device /dev/dri and --group-add with the group number of this '
                || 'machine.'
         WHEN lack = 'rule' THEN 'This is no fault of the machine: fade-query injections shows the rule.'
         WHEN lack = 'hidden'
           THEN 'Correct the variable or unset it; -1 or a number that does not exist hides all GPUs.'
         WHEN lack = 'no node'
           THEN 'Load the amdgpu driver (modprobe amdgpu; dmesg | grep kfd); in a container pass --device /dev/kfd '
                || '--device /dev/dri.'
         WHEN lack = 'no device' AND closed IS NOT NULL
           THEN 'The nodes are there and their permissions allow to open them, yet HIP did not keep them open. In a '
                || 'container its device rules may forbid it, which fade cannot see (docker: --device /dev/kfd '
                || '--device /dev/dri instead of a mount of /dev); else a security module, or a HIP library that is '
                || 'too old for this GPU. rocminfo as the same user, in the same container, says more.'
         WHEN lack = 'no device'
           THEN 'Look at the GPU with rocminfo as the same user; the HIP library may be too old for this GPU.'
         WHEN verdict = 'FAILED' AND failure_id IS NULL AND exit_signal = 6  -- as the runtime ends after a GPU fault
           THEN 'fade-query calls --unfinished shows where it was; GPU faults are logged in dmesg.'
         WHEN verdict = 'FAILED' AND failure_id IS NULL
           THEN 'fade-query postmortem shows where each thread was; fade-query calls --unfinished the calls that had '
                || 'not returned.'
         WHEN verdict = 'ALLOCATED_NO_LAUNCH'
           THEN 'The data is on the GPU, but the work is not: check which device the program computes on'
                || iif(torch_library IS NULL, '.', ' (PyTorch: model and tensors must both be on "cuda").')
         WHEN failure_id IS NOT NULL
           THEN coalesce(failed_advice, 'fade-query first-error shows the call with its arguments and what followed.')
         ELSE 'Tell the program to use the GPU; fade-query props shows what HIP said about the devices.'
              || iif(torch_library IS NULL, '',
                     ' PyTorch may distrust HIP''s count: compare torch.cuda.device_count().') END AS advice,
       launches, failed_launches, first_launch, last_launch, calls, failures, failure_id, start, until, cpu_ns,
       cpu_after_launches_ns
FROM told;

-- The verdict of a recording is the verdict of its working processes; of several, the first in this order.
CREATE VIEW session_verdicts AS
SELECT session, verdict, reason, evidence, advice, process_id, pid, command, working, processes
FROM (
  SELECT v.*, count(*) OVER (PARTITION BY session) AS processes,
         row_number() OVER (PARTITION BY session ORDER BY working DESC, launcher,
                            CASE iif(verdict = 'UNWATCHED' AND has_hip, 'UNKNOWN', verdict)
                              WHEN 'FAILED' THEN 1
                              WHEN 'STOPPED_USING' THEN 2
                              WHEN 'USED' THEN 3
                              WHEN 'UNKNOWN' THEN 3.5
                              WHEN 'ALLOCATED_NO_LAUNCH' THEN 4
                              WHEN 'QUERIED_ONLY' THEN 5
                              WHEN 'LOADED_UNUSED' THEN 6
                              WHEN 'NOT_LOADED' THEN 7
                              ELSE 8 END,
                            reason LIKE '%PyTorch%' DESC, launches DESC, cpu_ns DESC, until - start DESC,
                            process_id) AS place
  FROM (
    SELECT v.*, EXISTS (SELECT 1 FROM module_ m WHERE m.process = v.process_id AND m.role = 'hip') AS has_hip
    FROM verdicts v) v)
WHERE place = 1;

CREATE VIEW first_errors AS
WITH e AS (SELECT * FROM failures WHERE id IN (SELECT min(id) FROM failures WHERE NOT normal GROUP BY process_id)),
row_limits(most) AS (VALUES (100000)),
listed AS (SELECT id, coalesce(instr(detail, 'stats'), 0) > 0 AS lacks_rows FROM session_),
-- how far ahead the same thread's next calls are looked for. is_alone: no other process has calls
after AS MATERIALIZED (
  SELECT e.id,
         (SELECT y.id
          FROM call_ y
          WHERE NOT l.lacks_rows AND y.id > e.call_id AND y.id <= e.call_id + most AND y.thread = e.thread_id
            AND y.ts >= e.start
          ORDER BY y.id
          LIMIT 1) AS next_call,
         (SELECT y.id
          FROM call_ y
          JOIN function_ g ON g.id = y.fn
          WHERE y.id > e.call_id AND y.id <= e.call_id + most AND y.thread = e.thread_id AND y.ts >= e.start
            AND g.kind = 'error'
          ORDER BY y.id
          LIMIT 1) AS asked_call,
         NOT EXISTS (SELECT 1 FROM thread_ t WHERE t.process <> e.process_id) AS is_alone
  FROM e
  JOIN listed l ON l.id = e.session
  JOIN row_limits)
SELECT e.session, e.process_id, e.pid, p.command, e.tid, e.start, e.name, e.code, e.error, e.meaning, e.class,
       e.class = 'sticky' AS sticky, e.args, e.caller, e.caller_library, e.call_id,
       (SELECT g.name
        FROM call_ y
        JOIN call_ z ON z.id = y.id - y.up
        JOIN function_ g ON g.id = z.fn
        WHERE y.id = e.call_id) AS inside,
       (SELECT g.name FROM call_ y JOIN function_ g ON g.id = y.fn WHERE y.id = a.next_call) AS next_name,
       (SELECT r.name
        FROM call_ y
        JOIN result_name_ r ON r.fn = y.fn AND r.code = y.result
        WHERE y.id = a.next_call) AS next_result,
       (SELECT g.name FROM call_ y JOIN function_ g ON g.id = y.fn WHERE y.id = a.asked_call) AS asked_name,
       (SELECT coalesce((SELECT r.name FROM result_name_ r WHERE r.fn = y.fn AND r.code = y.result), y.result, 0)
        FROM call_ y
        WHERE y.id = a.asked_call) AS asked_result,
       EXISTS (SELECT 1
               FROM function_ g
               LEFT JOIN detail_levels d ON d.session = g.session AND d.api = g.api AND d."group" = g.grp
               WHERE g.session = e.session AND g.name = 'hipGetLastError'
                 AND coalesce(d.level, '') <> 'stats') AS asking_is_watched,
       CASE
         WHEN instr(s.detail, 'stats') = 0
           AND NOT EXISTS (SELECT 1 FROM drop_ d WHERE d.session = e.session AND d.reason GLOB 'size limit*')
           THEN (SELECT count(*)
                 FROM call_ y
                 WHERE y.id > e.call_id AND y.ts >= e.start
                   AND (a.is_alone OR (SELECT t.process FROM thread_ t WHERE t.id = y.thread) = e.process_id))
         END AS calls_after,
       (SELECT coalesce(sum(x.repeats), 0)
        FROM failures x
        WHERE x.process_id = e.process_id AND NOT x.normal) - 1 AS failures_after,
       (SELECT coalesce(sum(x.repeats), 0)
        FROM failures x
        WHERE x.process_id = e.process_id AND x.code = e.code AND NOT x.normal) - 1 AS same_after,
       v.verdict, e.advice
FROM e
JOIN after a ON a.id = e.id
JOIN process_ p ON p.id = e.process_id
JOIN session_ s ON s.id = e.session
LEFT JOIN verdicts v ON v.process_id = e.process_id;
