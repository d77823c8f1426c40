-- The summary as figures, for formats other than a table
-- hidden: the command of that name shows it
-- column: section  text  run, calls, memory ...
-- column: item     text  what the value is
-- column: value    text  as it is, in unit
-- column: unit     text  ns, bytes or empty
SELECT 'run' AS section, x.item AS item, x.value AS value, x.unit AS unit FROM (
  SELECT 1 AS n, 'command' AS item, command AS value, '' AS unit FROM sessions WHERE true /*? AND id = :session */
  UNION ALL SELECT 2, 'host', host, '' FROM sessions WHERE true /*? AND id = :session */
  UNION ALL SELECT 3, 'kernel', kernel, '' FROM sessions WHERE true /*? AND id = :session */
  UNION ALL SELECT 4, 'start', start_ns, 'ns since 1970' FROM sessions WHERE true /*? AND id = :session */
  UNION ALL SELECT 5, 'duration', duration, 'ns' FROM sessions WHERE true /*? AND id = :session */
  UNION ALL SELECT 6, 'closed cleanly', clean, '' FROM sessions WHERE true /*? AND id = :session */
  UNION ALL SELECT 7, 'processes', count(*), '' FROM processes WHERE true /*? AND session = :session */
  ORDER BY n) x
UNION ALL SELECT 'calls', 'calls', coalesce(sum(calls), 0), '' FROM top WHERE true /*? AND session = :session */
UNION ALL SELECT 'calls', 'errors', coalesce(sum(repeats), 0), '' FROM failures
          WHERE NOT normal /*? AND session = :session */
UNION ALL SELECT 'calls', 'time in calls', coalesce(sum(self_ns), 0), 'ns'
          FROM top WHERE true /*? AND session = :session */
UNION ALL SELECT 'group', "group", coalesce(sum(s.self_ns), 0), 'ns' FROM functions f
            JOIN call_stats s ON s.function_id = f.id
  WHERE true /*? AND f.session = :session */ GROUP BY "group"
UNION ALL SELECT 'category', c.category, sum(s.calls), 'calls' FROM call_stats s
            JOIN function_categories c ON c.function_id = s.function_id
  WHERE true /*? AND s.session = :session */ GROUP BY c.category
UNION ALL SELECT 'device', ordinal, name, '' FROM devices WHERE ordinal >= 0
            /*? AND session = :session */ GROUP BY ordinal, name
UNION ALL SELECT 'active device', device, sum(n), 'launches, copies and allocations' FROM (
  SELECT device, launches + copies AS n FROM streams WHERE device >= 0 /*? AND session = :session */
  UNION ALL SELECT device, allocs FROM memory_totals WHERE device >= 0 AND memory = 'device'
              /*? AND session = :session */) GROUP BY device HAVING sum(n) > 0
UNION ALL SELECT 'memory', 'peak of ' || place, peak, 'bytes' FROM (
  SELECT coalesce('device ' || device, 'an unknown device') || iif(memory = 'host', ', pinned host memory', '') ||
         iif(count(*) OVER (PARTITION BY session, device, memory) > 1, ', process ' || pid, '') AS place, peak
  FROM memory_totals WHERE true /*? AND session = :session */)
UNION ALL SELECT 'memory', 'never freed on ' || place, live_at_end, 'bytes' FROM (
  SELECT coalesce('device ' || device, 'an unknown device') || iif(memory = 'host', ', pinned host memory', '') ||
         iif(count(*) OVER (PARTITION BY session, device, memory) > 1, ', process ' || pid, '') AS place, live_at_end
  FROM memory_totals WHERE true /*? AND session = :session */)
UNION ALL SELECT 'kernels', 'launches', coalesce(sum(launches), 0), '' FROM kernel_runs
          WHERE true /*? AND session = :session */
UNION ALL SELECT 'copies', direction, sum(bytes), 'bytes' FROM copy_sizes
          WHERE true /*? AND session = :session */ GROUP BY direction
UNION ALL SELECT 'errors', name || ' ' || coalesce(error, code), sum(repeats),
                 '' FROM failures WHERE NOT normal /*? AND session = :session */ GROUP BY name, code, error
UNION ALL SELECT 'overrides', spec, hits, '' FROM overrides WHERE true /*? AND session = :session */
UNION ALL SELECT 'trust', 'not recorded: ' || reason, sum(n), '' FROM drops
          WHERE true /*? AND session = :session */ GROUP BY reason
UNION ALL SELECT 'trust', detail, value, 'calls' FROM lifecycle WHERE kind = 'locked' /*? AND session = :session */
UNION ALL SELECT 'trust', detail, value, 'breakpoints' FROM lifecycle WHERE kind = 'vanished'
            /*? AND session = :session */
UNION ALL SELECT 'trust', 'stops', coalesce(sum(stops), 0), '' FROM overhead WHERE true /*? AND session = :session */
UNION ALL SELECT 'trust', 'held by stops', coalesce(sum(held_ns), 0), 'ns'
          FROM overhead WHERE true /*? AND session = :session */
