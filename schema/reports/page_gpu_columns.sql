-- The columns of the plots: the busy share of each device in the time of each, in percent. The time from :first on has
-- :width columns of :span ns together.
SELECT pid, device, (sec * 1000000000 - :first) * :width / :span AS part,
       round(100.0 * sum(busy_ns) * :width / :span) AS busy
FROM gpu_busy_seconds
WHERE sec * 1000000000 >= :first AND sec * 1000000000 < :first + :span /*? AND session = :session */ /*? AND pid = :pid */
GROUP BY process_id, device, part
ORDER BY pid, device, part
