-- Flame graph of memory: what was in use at the peak, or was never freed, by call stack
-- hidden: a variant of flame
-- sort: -size_bytes
-- limit: 30
-- none: no memory was held
-- topic: memory
-- rows: of single calls
-- events: mem
-- column: frames      text   the device (or pinned memory of the host) first, then from the outermost frame to the
--   function that allocated
-- column: n           count  allocations
-- column: size_bytes  bytes  all together
WITH ranked AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY 1, 2),
held AS (
  SELECT iif(:merge, '', coalesce('rank ' || (SELECT k.rank FROM ranked k WHERE k.session = a.session
                                                 AND k.pid = a.pid) || ';', '')) AS who, a.stack, a.name,
         iif(a.memory = 'device', coalesce('device ' || a.device, 'an unknown device'), 'pinned host memory') AS place,
         count(*) AS n, sum(a.size) AS size_bytes
  FROM allocations a LEFT JOIN memory_totals m ON m.session = a.session AND m.pid = a.pid
     AND m.device IS a.device AND m.memory = a.memory
  WHERE a.memory IS NOT NULL AND CASE :weight WHEN 'leaks' THEN a."end" IS NULL
             ELSE a.start <= m.peak_at AND (a."end" IS NULL OR a."end" > m.peak_at) END
    /*? AND a.session = :session */ /*? AND a.pid = :pid */
    /*? AND (a.session, a.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND a.stack = :stack */ /*? AND a.name REGEXP :name */ /*? AND a.device = :device */
  GROUP BY who, a.stack, a.name, place
)
SELECT who || place || ';' || coalesce(fade_frames(stack, :word = 'own'), '[no stack; record with -k all]') ||
       ';' || replace(coalesce(name, '?'), ';', ':') AS frames, sum(n) AS n, sum(size_bytes) AS size_bytes
FROM held GROUP BY 1
