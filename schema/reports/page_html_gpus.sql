-- The load of each GPU in columns of :width ns.
SELECT node, pci, min(start) AS start, max(start + duration) AS until,
       sum(busy_percent * duration) / sum(iif(busy_percent IS NULL, NULL, duration)) AS busy
FROM gpu_samples
WHERE session = coalesce(:session, session)
GROUP BY node, pci, start / :width
ORDER BY node, start
