-- The columns of the plots: the load of each GPU in the time of each. The time from :first on has :width columns of
-- :span ns together. A second without a value is one in which the GPU was asleep.
SELECT node, (start - :first) * :width / :span AS part,
       round(sum(coalesce(busy_percent, 0) * duration) / sum(duration)) AS busy
FROM gpu_samples
WHERE start >= :first AND start < :first + :span /*? AND session = :session */
GROUP BY node, part
ORDER BY node, part
