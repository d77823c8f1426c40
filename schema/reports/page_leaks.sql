-- What was never freed, by process and kind of memory, the largest first.
-- over: leaks
SELECT sum(size_bytes) AS size_bytes, sum(n) AS n, count(DISTINCT place) AS places, pid,
       (SELECT coalesce(replace(p.exe, rtrim(p.exe, replace(p.exe, '/', '')), ''), p.command)
        FROM processes p
        WHERE p.pid = r.pid
        LIMIT 1) AS program,
       device, kind, NULL AS moment, max(rank) AS rank
FROM (SELECT *, name || ';' || coalesce(fade_frames(stack, 1), caller, '') AS place FROM report) r
GROUP BY pid, device, kind
ORDER BY 1 DESC
LIMIT 20
