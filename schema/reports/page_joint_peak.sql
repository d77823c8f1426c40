-- The highest sum of the memory of several devices, from the timeline of each. Peaks within a millisecond count as
-- simultaneous. :devices: a JSON list of [session, pid, device], device -1 for an unknown one.
WITH chosen AS MATERIALIZED (
  SELECT json_extract(value, '$[0]') AS session, json_extract(value, '$[1]') AS pid,
         json_extract(value, '$[2]') AS device
  FROM json_each(:devices)),
part AS (
  SELECT ms, used, peak, lag(used, 1, 0) OVER (PARTITION BY pid, device, kind ORDER BY ms) AS before
  FROM memory_timeline
  WHERE (session, pid, coalesce(device, -1)) IN (SELECT session, pid, device FROM chosen)
    AND iif(:of_host, kind IN ('host', 'registered'), kind IN ('device', 'managed', 'array', 'physical', 'graph'))),
moment AS (SELECT ms, sum(used - before) AS change, sum(peak - before) AS rise FROM part GROUP BY ms)
SELECT max(rise + before) AS peak
FROM (
  SELECT rise, coalesce(sum(change) OVER (ORDER BY ms ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
  FROM moment)
