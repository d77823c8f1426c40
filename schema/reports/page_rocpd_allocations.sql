-- Allocations and frees of the ledger as rows of rocpd_memory_allocate. The times are those of the calls on the host.
WITH step(type, row, call, ts) AS (
  SELECT 'ALLOC', id, call, ts FROM alloc_
  UNION ALL
  SELECT 'FREE', id, call_end, ts_end FROM alloc_ WHERE ts_end IS NOT NULL)
SELECT p.session, p.pid AS filter_pid, t.tid AS filter_tid, 1 AS nid, p.id AS pid, c.thread AS tid,
       iif(k.memory = 1, p.id, iif(d.ordinal >= 0, 1000000 + d.id, NULL)) AS agent_id, s.type,
       iif(k.memory IS NULL, 'VIRTUAL', 'REAL') AS level, coalesce(c.ts, s.ts) AS start,
       coalesce(c.ts + c.dur, c.ts, s.ts) AS "end", a.addr AS address,
         iif(s.type = 'FREE', 0, coalesce(a.bytes, 0)) AS size,
       1000000000 + p.id AS stream_id, 'MEMORY_ALLOCATION' AS event_category, coalesce(s.call, 0) AS event_stack,
       coalesce(s.call, 0) AS event_parent, json_object('kind', k.name, 'bytes', a.bytes) AS extdata
FROM step s
JOIN alloc_ a ON a.id = s.row
JOIN memory_kind_ k ON k.id = a.kind
JOIN device_ d ON d.id = a.device
JOIN process_ p ON p.id = d.process
LEFT JOIN call_ c ON c.id = s.call
LEFT JOIN thread_ t ON t.id = c.thread
