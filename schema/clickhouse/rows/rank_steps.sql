-- Steps of ranks with the parts of their time.
-- section: rows
WITH ended AS MATERIALIZED (
  SELECT * FROM steps WHERE session = :session AND complete AND rank IS NOT NULL
), chosen AS (  -- the thread of each rank that makes most of the steps
  SELECT thread_id FROM (
    SELECT thread_id, row_number() OVER (PARTITION BY pid ORDER BY count(*) DESC, thread_id) AS place
    FROM ended GROUP BY pid, thread_id)
  WHERE place = 1
), part AS MATERIALIZED (
  SELECT x.step_id, x.category, sum(x.self_ns) AS ns, sum(x.calls) AS calls FROM step_calls x
  WHERE x.step_id IN (SELECT id FROM ended) GROUP BY x.step_id, x.category
), parts AS MATERIALIZED (
  SELECT step_id, group_concat(category || ':' || ns || ':' || calls) AS words FROM part GROUP BY step_id
), busy AS (
  SELECT pid, device, sum(total_ns) AS ns FROM gpu_stats WHERE session = :session GROUP BY pid, device
), card AS MATERIALIZED (  -- the GPU that a process used most; without times of GPUs the only one that it knows
  SELECT pid, device, node FROM (
    SELECT t.pid, t.device, t.node, b.ns, count(*) OVER (PARTITION BY t.pid) AS n,
      row_number() OVER (PARTITION BY t.pid ORDER BY b.ns DESC, t.device) AS place
    FROM device_truth t LEFT JOIN busy b ON b.pid = t.pid AND b.device = t.device WHERE t.session = :session)
  WHERE place = 1 AND (n = 1 OR ns > 0)
), sensor AS MATERIALIZED (
  SELECT node, start / 1000000000 AS sec, avg(mhz) AS mhz, avg(watts) AS watts, avg(celsius) AS celsius
  FROM gpu_samples WHERE session = :session GROUP BY node, sec
), {operations}, met AS MATERIALIZED (
  SELECT pid, step, sum(gpu_end - gpu_start) AS ns FROM operation WHERE step IS NOT NULL AND gpu_end IS NOT NULL
  GROUP BY pid, step
)
SELECT s.idx, s.name, s.pid, s.tid, s.start, s.duration, s.waited_ns, max(0, s.duration - s.in_calls_ns) AS outside_ns,
  g.gpu_ns, m.ns AS met_ns, coalesce(p.words, '') AS categories, c.device, r.mhz, r.watts, r.celsius
FROM ended s LEFT JOIN gpu_steps g ON g.step_id = s.id LEFT JOIN parts p ON p.step_id = s.id
LEFT JOIN card c ON c.pid = s.pid
LEFT JOIN met m ON m.pid = s.pid AND m.step = s.idx
LEFT JOIN sensor r ON r.node = c.node AND r.sec = (s.start + s.duration / 2) / 1000000000
WHERE s.thread_id IN (SELECT thread_id FROM chosen)
