-- How processes died, and what they did then.

CREATE VIEW postmortem_threads AS
SELECT m.id AS postmortem_id, m.session, p.pid, x.thread AS thread_id, t.tid, t.name,
       coalesce(x.thread = m.thread, 0) AS cause, x.ts AS start, c.call AS call_id, f.name AS call, c.args,
       c.ts AS call_start, x.ts - c.ts AS age_ns, s.library AS caller_library,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       (SELECT group_concat(name, ' > ')
        FROM (
          SELECT g.name
          FROM postmortem_call_ o
          JOIN function_ g ON g.id = o.fn
          WHERE o.postmortem = m.id AND o.thread = x.thread
          ORDER BY o.call)) AS calls,
       x.doing, o.path AS library, x.symbol, x.offset,
       iif(x.offset IS NULL, NULL, printf('0x%x', x.offset)) AS offset_hex, x.address,
       iif(x.address IS NULL, NULL, printf('0x%x', x.address)) AS address_hex,
       replace(o.path, rtrim(o.path, replace(o.path, '/', '')), '') || ': '
       || coalesce(x.symbol,
                   (SELECT i.name
                    FROM stack_ k
                    JOIN frame_ i ON i.id = k.frame
                    WHERE k.id = x.stack AND i.kind = 0 AND i.module = x.module AND i.offset = x.offset),
                   '+' || iif(x.offset IS NULL, NULL, printf('0x%x', x.offset))) AS place,
       x.earlier, x.stack, l.call AS last_call_id, lf.name AS last_call, l.ts + l.dur AS last_call_end
FROM postmortem_thread_ x
JOIN postmortem_ m ON m.id = x.postmortem
JOIN process_ p ON p.id = m.process
JOIN thread_ t ON t.id = x.thread
LEFT JOIN postmortem_call_ c
  ON c.postmortem = m.id
    AND c.call = (SELECT max(call) FROM postmortem_call_ i WHERE i.postmortem = m.id AND i.thread = x.thread)
LEFT JOIN function_ f ON f.id = c.fn
LEFT JOIN call_site_ s ON s.id = c.caller
LEFT JOIN module_ o ON o.id = x.module
LEFT JOIN postmortem_last_ l
  ON l.postmortem = m.id
    AND l.call = (SELECT max(call) FROM postmortem_last_ i WHERE i.postmortem = m.id AND i.thread = x.thread)
LEFT JOIN function_ lf ON lf.id = l.fn;

CREATE VIEW postmortem_calls AS
SELECT c.postmortem AS postmortem_id, m.session, p.pid, t.tid, c.thread AS thread_id, c.call AS call_id, f.name,
       'running' AS state, c.ts AS start, x.ts - c.ts AS duration, NULL AS result, NULL AS result_name, c.args,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller
FROM postmortem_call_ c
JOIN postmortem_ m ON m.id = c.postmortem
JOIN process_ p ON p.id = m.process
JOIN thread_ t ON t.id = c.thread
JOIN function_ f ON f.id = c.fn
JOIN postmortem_thread_ x ON x.postmortem = c.postmortem AND x.thread = c.thread
LEFT JOIN call_site_ s ON s.id = c.caller
UNION ALL
SELECT l.postmortem, m.session, p.pid, t.tid, l.thread, l.call, f.name, iif(l.returned, 'returned', 'unwound'), l.ts,
       l.dur, iif(l.returned AND f.result_type <> 'void', l.result, NULL), iif(l.returned, r.name, NULL), a.args,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address)))
FROM postmortem_last_ l
JOIN postmortem_ m ON m.id = l.postmortem
JOIN process_ p ON p.id = m.process
JOIN thread_ t ON t.id = l.thread
JOIN function_ f ON f.id = l.fn
LEFT JOIN result_name_ r ON r.fn = l.fn AND r.code = l.result
LEFT JOIN arg_ a ON a.call = l.call
LEFT JOIN call_ c ON c.id = l.call
LEFT JOIN call_site_ s ON s.id = c.caller;

CREATE VIEW postmortem_memory AS
SELECT x.postmortem AS postmortem_id, m.session, p.pid, nullif(d.ordinal, -1) AS device, k.name AS kind,
       CASE k.memory WHEN 0 THEN 'device' WHEN 1 THEN 'host' END AS memory, x.used, x.peak
FROM postmortem_memory_ x
JOIN postmortem_ m ON m.id = x.postmortem
JOIN process_ p ON p.id = m.process
JOIN device_ d ON d.id = x.device
JOIN memory_kind_ k ON k.id = x.kind;

CREATE VIEW postmortems AS
WITH m AS (
  SELECT y.*, p.pid, p.command, t.tid, t.name AS thread_name, coalesce(n.name, 'signal ' || y.signal) AS signal_name,
         k.name AS code_name,
         -- A code of 0 or less: a process sent the signal, and what the signal means as a fault did not happen.
         CASE
           WHEN y.cause = 'stack' THEN 'the stack of a thread overflowed'
           WHEN y.signal IN (4, 5, 7, 8, 11) AND y.code <= 0 THEN NULL
           ELSE coalesce(k.meaning, n.meaning) END AS meaning,
         y.signal IN (4, 5, 6, 7, 8, 11) AND y.code <= 0 AND coalesce(y.cause, '') <> 'self' AS was_sent,
         (SELECT count(*) FROM postmortem_call_ c WHERE c.postmortem = y.id) AS calls_running,
         (SELECT count(*) FROM postmortem_thread_ x WHERE x.postmortem = y.id) AS threads,
         (SELECT f.name
          FROM postmortem_call_ c
          JOIN function_ f ON f.id = c.fn
          WHERE c.postmortem = y.id AND c.thread = y.thread
          ORDER BY c.call DESC
          LIMIT 1) AS call,
         (SELECT sum(used)
          FROM postmortem_memory_ h
          JOIN memory_kind_ q ON q.id = h.kind
          WHERE h.postmortem = y.id AND q.memory = 0) AS device_bytes,
         (SELECT sum(used)
          FROM postmortem_memory_ h
          JOIN memory_kind_ q ON q.id = h.kind
          WHERE h.postmortem = y.id AND q.memory = 1) AS host_bytes,
         EXISTS (SELECT 1
                 FROM failures e
                 WHERE e.session = y.session AND e.pid = p.pid AND NOT e.normal) AS had_failures
  FROM postmortem_ y
  JOIN process_ p ON p.id = y.process
  LEFT JOIN thread_ t ON t.id = y.thread
  LEFT JOIN signal_name_ n ON n.signal = y.signal
  LEFT JOIN signal_code_ k ON k.signal = y.signal AND k.code = y.code)
SELECT id, session, process AS process_id, pid, command, ts AS start, kind,
       CASE kind
         WHEN 'exit'
           THEN 'ended with exit status ' || exit_code || ' while ' || calls_running
                || iif(calls_running = 1, ' call was', ' calls were') || ' running'
         WHEN 'hang'
           THEN 'appears to hang: ' || calls_running || iif(calls_running = 1, ' call was', ' calls were')
                || ' running, and no other call finished for ' || printf('%.1f', quiet / 1e9) || ' s'
         WHEN 'snapshot' THEN 'running: this is a snapshot'
         ELSE CASE
                WHEN cause = 'oom' THEN 'killed by the kernel''s out-of-memory killer (SIGKILL)'
                WHEN cause = 'oom?' THEN 'killed by SIGKILL, probably from the kernel''s out-of-memory killer'
                WHEN signal = 9
                  THEN iif(cause = 'self', 'killed itself with SIGKILL',
                           'killed by SIGKILL from outside (sender unknown)')
                WHEN was_sent AND sender IS NOT NULL
                  THEN 'died of a signal: process ' || sender || coalesce(' (' || sender_name || ')', '') || ' of user '
                       || sender_uid || ' sent ' || signal_name
                WHEN was_sent THEN 'died of a signal: a process sent ' || signal_name
                ELSE 'died of ' || signal_name || coalesce(': ' || meaning, '')
                     || CASE
                          WHEN cause = 'self' AND signal IN (1, 2, 15) THEN ', raised again by the program itself'
                          WHEN cause = 'self' THEN iif(signal = 6, '', ', sent by the program itself')
                          WHEN sender IS NOT NULL
                            THEN ', sent by process ' || sender || coalesce(' (' || sender_name || ')', '')
                                 || ' of user ' || sender_uid
                          ELSE '' END END END AS what,
       signal, iif(signal IS NULL, NULL, signal_name) AS signal_name, code, code_name, address,
       iif(address IS NULL, NULL, printf('0x%x', address)) AS address_hex, sender AS sender_pid, sender_uid,
       sender_name, exit_code, quiet AS quiet_ns, cause, evidence, thread AS thread_id, tid, thread_name, call,
       calls_running, threads, device_bytes, host_bytes,
       CASE
         WHEN kind = 'hang'
           THEN 'Work on the GPU that takes long looks the same: then use a longer --hang-timeout. If it never ends, '
                || 'see what the threads below wait for. dmesg reports a GPU reset. With AMD_SERIALIZE_KERNEL=3 the '
                || 'launch that does not end is the call that waits.'
         WHEN kind = 'exit'
           THEN 'Work that is unfinished when the program ends is lost: join the threads, or wait with '
                || 'hipDeviceSynchronize, before the program ends.'
         WHEN kind = 'snapshot' THEN NULL
         WHEN cause IN ('oom', 'oom?')
           THEN 'The machine or the container ran out of main memory, not of the GPU''s: fewer or smaller data loading '
                || 'workers, less pinned memory, or a higher limit. dmesg shows what was killed and why.'
         WHEN cause = 'stack'
           THEN 'A recursion that does not end, or large arrays on the stack: if a larger stack (ulimit -s, or '
                || 'pthread_attr_setstacksize) helps, it is the arrays.'
         WHEN signal = 9 AND cause IS NULL
           THEN 'The kernel does not report the sender of a SIGKILL. Ask the scheduler or container engine for its '
                || 'limits of time and memory (sacct, docker inspect, kubectl describe pod), and dmesg for "Killed '
                || 'process".'
         WHEN was_sent THEN 'The program itself is not at fault: check why that process sent the signal.'
         WHEN signal = 6
           THEN iif(had_failures, 'Calls had failed before: fade-query first-error. ', '')
                || 'The program or a library gave up by itself (an assertion, an uncaught C++ exception, the HIP '
                || 'runtime): the last lines on standard error say why.'
         WHEN signal IN (7, 11) AND call IS NOT NULL
           THEN 'It happened inside ' || call
                || ': compare the pointers and sizes in its arguments with fade-query allocs. Usual causes are device '
                || 'memory used as host memory, freed memory, and sizes that are too large.'
         WHEN signal IN (7, 11)
           THEN 'The thread was in no recorded call: see the place in the code below. ulimit -c unlimited and gdb '
                || 'PROGRAM CORE show its variables.'
         WHEN signal = 4
           THEN 'The code was built for another processor, or it is code that must not be reached (__builtin_trap).'
         WHEN signal IN (1, 2, 15) AND cause = 'self'
           THEN 'The program had handled the signal and then ended itself with it, as Python does after Ctrl-C: this '
                || 'is not a crash.'
         WHEN signal IN (1, 2, 15) THEN 'The terminal or another process asked it to end: this is not a crash.'
         END AS advice
FROM m;
