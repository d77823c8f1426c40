-- The columns of the plots: the busy share of each device in the time of each, in percent. The time from :first on has
-- :width columns of :span ns together, none shorter than a second. A second that lies in two columns counts in both,
-- each with its part of the time.
WITH second AS (
  SELECT process_id, pid, device, busy_ns, sec * 1000000000 - :first AS at
  FROM gpu_busy_seconds
  WHERE sec * 1000000000 >= :first AND sec * 1000000000 < :first + :span
    /*? AND session = :session */ /*? AND pid = :pid */),
cut AS (
  SELECT *, at * :width / :span AS part,
         min(1.0, (at * :width / :span + 1) * 1.0 * :span / :width / 1000000000 - at / 1000000000.0) AS share
  FROM second),
share AS (
  SELECT process_id, pid, device, part, busy_ns * share AS ns FROM cut
  UNION ALL
  SELECT process_id, pid, device, part + 1, busy_ns * (1 - share) FROM cut WHERE share < 1 AND part + 1 < :width)
SELECT pid, device, part, round(100.0 * sum(ns) * :width / :span) AS busy
FROM share
GROUP BY process_id, device, part
ORDER BY pid, device, part
