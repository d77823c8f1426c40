-- What was in use at the peak and what was never freed, by stack, as the report flame_memory has both: one look at each
-- allocation is enough for four flame graphs.
WITH ranked AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY 1, 2),
held AS (
  SELECT coalesce('rank ' || (SELECT k.rank FROM ranked k WHERE k.session = a.session AND k.pid = a.pid) || ';', '')
         || iif(a.memory = 'device', coalesce('device ' || a.device, 'an unknown device'), 'pinned host memory') || ';'
           AS place,
         a.stack, a.name,
         sum(iif(a.start <= m.peak_at AND (a."end" IS NULL OR a."end" > m.peak_at), a.size, 0)) AS peak,
         sum(iif(a."end" IS NULL, a.size, 0)) AS leaks
  FROM allocations a
  LEFT JOIN memory_totals m
    ON m.session = a.session AND m.pid = a.pid AND m.device IS a.device AND m.memory = a.memory
  WHERE a.memory IS NOT NULL AND (a."end" IS NULL OR (a.start <= m.peak_at AND a."end" > m.peak_at))
    AND a.session = coalesce(:session, a.session)
  GROUP BY place, a.stack, a.name)
SELECT place || coalesce(fade_frames(stack, 1), '[no stack; record with -k all]') || ';'
       || replace(coalesce(name, '?'), ';', ':') AS own,
       place || coalesce(fade_frames(stack, 0), '[no stack; record with -k all]') || ';'
       || replace(coalesce(name, '?'), ';', ':') AS frames,
       peak, leaks
FROM held
