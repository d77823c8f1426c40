-- Processes with their sums so far. waited_ns: in calls that wait for the GPU; memory: GPU memory that HIP calls hold.
WITH used AS MATERIALIZED (
  SELECT process, sum(calls) AS calls, sum(errors) AS errors, sum(launches) AS launches FROM process_use_ GROUP BY process),
waited AS MATERIALIZED (SELECT process_id, sum(blocked_ns) AS waited_ns FROM waits WHERE session = :session GROUP BY process_id),
held AS MATERIALIZED (
  SELECT d.process, sum(m.used) AS memory
  FROM mem_holder_ m
  JOIN device_ d ON d.id = m.device
  WHERE m.library = '*' AND m.memory = 0
  GROUP BY d.process)
SELECT p.id, p.pid, p.command, p.exe, p.ts_end IS NOT NULL AS ended, coalesce(u.calls, 0) AS calls,
       coalesce(u.errors, 0) AS errors, coalesce(u.launches, 0) AS launches, coalesce(w.waited_ns, 0) AS waited_ns,
       coalesce(h.memory, 0) AS memory
FROM process_ p
LEFT JOIN used u ON u.process = p.id
LEFT JOIN waited w ON w.process_id = p.id
LEFT JOIN held h ON h.process = p.id
WHERE p.session = :session
ORDER BY p.id
