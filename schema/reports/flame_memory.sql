-- Flame graph of memory: what was in use at the peak, or was never freed, by call stack
-- hidden: a variant of flame
-- sort: -size_bytes
-- limit: 30
-- column: frames      text   the device (or pinned memory of the host) first, then from the outermost frame to the function that allocated
-- column: n           count  allocations
-- column: size_bytes  bytes  all together
WITH held AS (
  SELECT a.stack, a.name, iif(a.memory = 'device', coalesce('device ' || a.device, 'an unknown device'), 'pinned host memory') AS place, count(*) AS n, sum(a.size) AS size_bytes
  FROM allocations a LEFT JOIN memory_totals m ON m.session = a.session AND m.pid = a.pid AND m.device IS a.device AND m.memory = a.memory
  WHERE a.memory IS NOT NULL AND CASE :weight WHEN 'leaks' THEN a."end" IS NULL ELSE a.start <= m.peak_at AND (a."end" IS NULL OR a."end" > m.peak_at) END
    /*? AND a.session = :session */ /*? AND a.pid = :pid */ /*? AND a.stack = :stack */ /*? AND a.name REGEXP :name */ /*? AND a.device = :device */
  GROUP BY a.stack, a.name, place
)
SELECT place || ';' || coalesce(fade_frames(stack, :word = 'own'), '[no stack was taken]') || ';' || replace(coalesce(name, '?'), ';', ':') AS frames, sum(n) AS n, sum(size_bytes) AS size_bytes
FROM held GROUP BY 1
