-- Steps (--step), on lanes of their threads. Other programs know a step by the name that PyTorch's profiler gives it.
SELECT session, pid, tid, 'steps' AS lane, 1 AS folds, 0 AS instant, 'step' AS category,
       iif(:kineto, 'ProfilerStep#' || idx, name || ' ' || idx) AS name, start, "end", name AS step, idx AS number,
       iif(complete, NULL, 'the program did not end it') AS incomplete, iif(slow, vs_median, NULL) AS slower_than_usual,
       calls,
       nullif(errors, 0) AS errors, launches, copies, copied_bytes, growth_bytes, in_calls_ns, waited_ns
FROM steps
