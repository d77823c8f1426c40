-- Samples of threads outside all watched calls (--sample).
SELECT session, pid, tid, 'Python samples' AS lane, 0 AS folds, 1 AS instant, 'sample' AS category,
       coalesce(function, '?') || coalesce(' (' || file || ':' || line || ')', '') AS name, start, start AS "end",
       fade_frames(stack, 0) AS stack
FROM samples
