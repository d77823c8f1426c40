-- Kernels of each process with their runs so far, and the GPU's time for them (--gpu-times).
SELECT process_id AS process, name, sum(n) AS launches, sum(total_ns) AS total_ns
FROM gpu_stats
WHERE session = :session AND kind = 'kernel'
GROUP BY process_id, name
