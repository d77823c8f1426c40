-- Processes with their sums so far. Calls and errors: of the same sums as the functions. waited_ns: in calls that wait
-- for the GPU; memory: GPU memory that HIP calls hold; memory_before: the process ran before fade came.
WITH used AS MATERIALIZED (SELECT process, sum(launches) AS launches FROM process_use_ GROUP BY process),
called AS MATERIALIZED (
  SELECT t.process, sum(x.n) AS calls, sum(x.errors) AS errors
  FROM call_stat_ x
  JOIN thread_ t ON t.id = x.thread
  GROUP BY t.process),
came AS MATERIALIZED (
  SELECT process
  FROM lifecycle_
  WHERE session = :session AND kind IN ('attach', 'exec')
  GROUP BY process
  HAVING max(iif(kind = 'attach', id, 0)) > max(iif(kind = 'exec', id, 0))),
waited AS MATERIALIZED (SELECT process_id, sum(blocked_ns) AS waited_ns FROM waits
                        WHERE session = :session GROUP BY process_id),
held AS MATERIALIZED (
  SELECT d.process, sum(m.used) AS memory
  FROM mem_holder_ m
  JOIN device_ d ON d.id = m.device
  WHERE m.library = '*' AND m.memory = 0
  GROUP BY d.process)
SELECT p.id, p.pid, p.command, p.exe, p.ts_end IS NOT NULL AS ended, coalesce(c.calls, 0) AS calls,
       coalesce(c.errors, 0) AS errors, coalesce(u.launches, 0) AS launches, coalesce(w.waited_ns, 0) AS waited_ns,
       coalesce(h.memory, 0) AS memory, p.id IN (SELECT process FROM came) AS memory_before
FROM process_ p
LEFT JOIN called c ON c.process = p.id
LEFT JOIN used u ON u.process = p.id
LEFT JOIN waited w ON w.process_id = p.id
LEFT JOIN held h ON h.process = p.id
WHERE p.session = :session
ORDER BY p.id
