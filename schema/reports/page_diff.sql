-- The values that fade-query diff compares: a row for each session and value. number or text is set.
-- unit: ns, bytes, n or empty; mean ns: a mean that may be missing (other numbers are 0 then). rank: order of sections.
SELECT id AS session, 1 AS rank, 'run' AS section, 'duration' AS item, 'ns' AS unit,
       duration AS number, NULL AS text FROM sessions
UNION ALL
SELECT session, 1, 'run', 'processes', 'n', count(*), NULL FROM processes GROUP BY session
UNION ALL
SELECT session, 1, 'run', 'calls', 'n', sum(calls), NULL FROM top GROUP BY session
UNION ALL
SELECT session, 1, 'run', 'time in calls', 'ns', sum(self_ns), NULL FROM top GROUP BY session
UNION ALL
SELECT session, 1, 'run', 'failed calls', 'n', sum(repeats), NULL FROM failures WHERE NOT normal GROUP BY session
UNION ALL
SELECT session, 1, 'run', 'kernel launches', 'n', sum(launches), NULL FROM kernel_stats GROUP BY session
UNION ALL
SELECT session, 1, 'run', 'verdict', '', NULL, verdict FROM session_verdicts
UNION ALL
SELECT session, 2, 'steps', 'number', 'n', count(*), NULL FROM steps WHERE complete GROUP BY session
UNION ALL
SELECT session, 2, 'steps', 'mean duration', 'mean ns', CAST(avg(duration) AS INTEGER), NULL
       FROM steps WHERE complete GROUP BY session
UNION ALL
SELECT session, 3, 'time in functions', name, 'ns', sum(self_ns), NULL FROM top GROUP BY session, name
UNION ALL
SELECT session, 4, 'calls of functions', name, 'n', sum(calls), NULL FROM top GROUP BY session, name
UNION ALL
SELECT session, 5, 'launches', name || ' <' || grid_x || 'x' || grid_y || 'x' || grid_z || ', ' || block_x || 'x'
       || block_y || 'x' || block_z || '>',
       'n', sum(launches), NULL
FROM kernel_stats GROUP BY session, name, grid_x, grid_y, grid_z, block_x, block_y, block_z
UNION ALL
SELECT session, 6, 'GPU time', kind || ' ' || name, 'ns', sum(total_ns), NULL FROM gpu_stats GROUP BY session,
       kind, name
UNION ALL
SELECT session, 6, 'GPU time', 'busy' || coalesce(', device ' || device, ''), 'ns', sum(busy_ns), NULL
FROM gpu_busy GROUP BY session, device
UNION ALL
SELECT session, 6, 'GPU time', 'idle, ' || cause || coalesce(', device ' || device, ''), 'ns', sum(total_ns), NULL
FROM gpu_gaps GROUP BY session, device, cause
UNION ALL
SELECT session, 7, 'memory', iif(memory = 'device', coalesce('device ' || device, 'unknown device'), 'host')
       || ', peak of a process', 'bytes', max(peak), NULL
FROM memory_totals GROUP BY session, memory, device
UNION ALL
SELECT session, 7, 'memory', iif(memory = 'device', coalesce('device ' || device, 'unknown device'), 'host')
       || ', left at the end', 'bytes', sum(live_at_end), NULL
FROM memory_totals GROUP BY session, memory, device
UNION ALL
SELECT session, 7, 'memory', iif(memory = 'device', coalesce('device ' || device, 'unknown device'), 'host')
       || ', allocated', 'bytes', sum(allocated), NULL
FROM memory_totals GROUP BY session, memory, device
UNION ALL
SELECT session, 8, 'copies', direction || coalesce(' ' || memory, '') || iif(async, ' async', ''), 'bytes',
       sum(bytes), NULL
FROM copy_sizes GROUP BY session, direction, memory, async
UNION ALL
SELECT session, 9, 'errors', name || ': ' || coalesce(error, code), 'n', sum(repeats), NULL
       FROM failures WHERE NOT normal GROUP BY session, name, coalesce(error, code)
UNION ALL
SELECT session, 10, 'libraries', coalesce(nullif(soname, ''), replace(path, rtrim(path, replace(path, '/', '')),
       '')), '', NULL,
       group_concat(DISTINCT path || coalesce(' (' || nullif(version, '') || ')', '') || coalesce(', build id '
       || substr(nullif(build_id, ''), 1, 12), ''))
FROM modules WHERE role <> '' GROUP BY session, coalesce(nullif(soname, ''), path)
UNION ALL
SELECT session, 11, 'told properties', 'device ' || coalesce(device, '?') || ' ' || name, '', NULL,
       group_concat(DISTINCT value)
FROM (SELECT DISTINCT session, device, name, last_value(value) OVER (PARTITION BY session, pid, device,
       name ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS value
      FROM device_properties WHERE name NOT IN ('memoryFree', 'free'))
GROUP BY session, device, name
UNION ALL
SELECT id, 12, 'fade', 'version', '', NULL, fade_version FROM sessions
UNION ALL
SELECT id, 12, 'fade', 'options', '', NULL, coalesce(options, '') FROM sessions
UNION ALL
SELECT id, 12, 'fade', 'machine', '', NULL, coalesce(host, '?') || ', Linux ' || coalesce(kernel, '?') FROM sessions
