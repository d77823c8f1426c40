-- The GPUs of the report sensors, and the time that the plots show.
-- over: sensors
SELECT x.*, (SELECT min(g.start) FROM gpu_samples g WHERE true /*? AND g.session = :session */
               /*? AND g.start >= :from */) AS first,
       (SELECT max(g.start + g.duration) FROM gpu_samples g WHERE true /*? AND g.session = :session */
          /*? AND g.start < :to */) AS last,
       (SELECT count(*) FROM gpu_samples g WHERE g.node = x.node /*? AND g.session = :session */
          /*? AND g.start >= :from */ /*? AND g.start < :to */) AS n
FROM report x
ORDER BY x.node
