-- How many works of GPUs have a device, by the sums.
SELECT sum(n) AS works
FROM gpu_stats
WHERE kind <> 'barrier' AND device IS NOT NULL AND session = coalesce(:session, session)
