-- The functions of CUDA's libraries that were called, by time.
SELECT t.name, sum(t.calls) AS calls, sum(t.total_ns) AS total_ns
FROM call_stats t JOIN functions f ON f.id = t.function_id
WHERE f.api IN ('cuda', 'cublas', 'cublaslt', 'cudnn', 'cufft', 'cusparse', 'nvml') /*? AND t.session = :session */
GROUP BY t.name HAVING sum(t.calls) > 0
ORDER BY total_ns DESC
