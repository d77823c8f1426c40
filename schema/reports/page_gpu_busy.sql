-- The devices of the report gpu, and the seconds that the plots show.
-- over: gpu
SELECT x.*,
  (SELECT min(g.sec) FROM gpu_busy_seconds g
  WHERE true /*? AND g.session = :session */ /*? AND g.pid = :pid */) * 1000000000 AS first,
       (SELECT max(g.sec) + 1 FROM gpu_busy_seconds g
         WHERE true /*? AND g.session = :session */ /*? AND g.pid = :pid */) * 1000000000 AS last,
       (SELECT coalesce(sum(w.n), 0) FROM gpu_stats w
         WHERE true /*? AND w.session = :session */ /*? AND w.pid = :pid */) AS works,
       (SELECT d.text FROM gpu_doubts d WHERE d.pid = x.pid /*? AND d.session = :session */) AS doubt
FROM report x
ORDER BY x.pid, x.device
