-- The columns of the plots of a short recording, from single works: the busy share of each device, in percent. The time
-- from :first on has :width columns of :span ns together.
WITH RECURSIVE part(part, low, high) AS (
  SELECT 0, 0, :span / :width
  UNION ALL
  SELECT part + 1, high, (part + 2) * :span / :width FROM part WHERE part + 1 < :width),
work AS (
  SELECT process_id, pid, device, start - :first AS low, "end" - :first AS high,
         max("end") OVER (PARTITION BY process_id, device ORDER BY start, "end" ROWS BETWEEN UNBOUNDED PRECEDING
           AND 1 PRECEDING)
         - :first AS covered
  FROM gpu_work
  WHERE kind <> 'barrier' /*? AND session = :session */ /*? AND pid = :pid */),
span AS MATERIALIZED (
  SELECT process_id, pid, device, max(low, coalesce(covered, low)) AS low, high FROM work
    WHERE high > coalesce(covered, -1))
SELECT s.pid, s.device, p.part, round(100.0 * sum(min(s.high, p.high) - max(s.low, p.low)) / (p.high - p.low)) AS busy
FROM span s
JOIN part p ON s.high > p.low AND s.low < p.high
GROUP BY s.process_id, s.device, p.part
ORDER BY s.pid, s.device, p.part
