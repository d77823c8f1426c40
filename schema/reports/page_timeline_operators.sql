-- Operators of imported traces, on lanes of their threads.
SELECT session, pid, tid, 'operators' AS lane, 1 AS folds, 0 AS instant, 'operator' AS category, name, start, "end",
       nullif(works, 0) AS works, nullif(gpu_ns, 0) AS gpu_ns
FROM operators
