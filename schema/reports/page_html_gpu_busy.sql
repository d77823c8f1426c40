-- The time in which each device worked, in columns of :width ns, which is a number of whole seconds.
SELECT pid, device, sec * 1000000000 / :width AS part, sum(busy_ns) AS busy
FROM gpu_busy_seconds
WHERE session = coalesce(:session, session)
GROUP BY pid, device, part
ORDER BY pid, device, part
