-- What was in use at the peak, by process and kind of memory, the largest first.
-- over: memory_peak
SELECT sum(size_bytes) AS size_bytes, sum(n) AS n, count(DISTINCT place) AS places, r.pid,
       (SELECT coalesce(replace(p.exe, rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command)
        FROM processes p
        WHERE p.pid = r.pid
        LIMIT 1) AS program,
       r.device, r.memory AS kind,
       (SELECT max(m.peak_at)
        FROM memory_totals m
        WHERE m.pid = r.pid AND m.device IS r.device AND m.memory = r.memory
          AND m.session = coalesce(:session, m.session)) AS moment,
       max(r.rank) AS rank
FROM (SELECT *, name || ';' || coalesce(fade_frames(stack, 1), caller, '') AS place FROM report) r
GROUP BY r.pid, r.device, r.memory
ORDER BY 1 DESC
LIMIT 20
