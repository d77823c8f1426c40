-- The sensors of GPUs: each second's mean. They are the driver's and of no process.
WITH s AS (SELECT 'GPU node ' || node || coalesce(' (' || pci || ')', '') || ': ' AS gpu, g.* FROM gpu_samples g)
SELECT session, NULL AS pid, NULL AS tid, gpu || 'load (%)' AS counter, 0 AS is_bytes,
       start, start AS "end", round(busy_percent) AS value
FROM s
WHERE busy_percent IS NOT NULL
UNION ALL
SELECT session, NULL, NULL, gpu || 'memory', 1, start, start, memory
FROM s
WHERE memory IS NOT NULL
UNION ALL
SELECT session, NULL, NULL, gpu || 'power (W)', 0, start, start, round(watts)
FROM s
WHERE watts IS NOT NULL
UNION ALL
SELECT session, NULL, NULL, gpu || 'temperature (C)', 0, start, start, round(celsius)
FROM s
WHERE celsius IS NOT NULL
UNION ALL
SELECT session, NULL, NULL, gpu || 'clock (MHz)', 0, start, start, round(mhz)
FROM s
WHERE mhz IS NOT NULL
