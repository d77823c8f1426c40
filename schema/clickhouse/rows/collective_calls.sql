-- Calls of collective operations (RCCL), numbered for each process: the n-th one of all ranks is the same operation.
-- The calls that count are those of fade-query ranks.
-- section: rows
SELECT row_number() OVER (PARTITION BY p.id ORDER BY c.id) AS nth, p.pid, t.tid, f.name, c.ts AS start,
       c.dur AS duration, c.id AS call_id
FROM call_ c
JOIN thread_ t ON t.id = c.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = c.fn
WHERE c.fn IN (SELECT id
               FROM functions
               WHERE "group" = 'comm' AND name GLOB 'nccl[ABGRS]*' AND calls > 0
                 AND name NOT IN ('ncclSend', 'ncclRecv', 'ncclGetUniqueId'))
  AND p.session = :session
