-- Work of GPUs with a device, in order of start for each device.
SELECT pid, device, start, "end"
FROM gpu_work
WHERE kind <> 'barrier' AND device IS NOT NULL AND session = coalesce(:session, session)
ORDER BY pid, device, start
