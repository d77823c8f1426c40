-- Which further reports have something to say.
SELECT (SELECT count(*) FROM failures WHERE NOT normal AND session = coalesce(:session, session)) AS failures,
       (SELECT count(*) FROM kernel_stats WHERE session = coalesce(:session, session)) AS kernels,
       (SELECT count(*) FROM memory_stats WHERE session = coalesce(:session, session)) AS memory,
       (SELECT count(*) FROM call_stats WHERE session = coalesce(:session, session)) AS calls,
       EXISTS (SELECT 1
               FROM step_ x
               JOIN processes p ON p.id = x.process
               WHERE p.session = coalesce(:session, p.session)) AS steps,
       EXISTS (SELECT 1 FROM range_stats WHERE session = coalesce(:session, session)) AS ranges,
       EXISTS (SELECT 1 FROM gpu_busy WHERE session = coalesce(:session, session)) AS gpu
