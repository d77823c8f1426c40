-- When the last process ended, or the recording. While a process has no end: the last moment at which it was seen.
SELECT max(coalesce(p."end", s.duration,
                    max(p.start,
                        coalesce((SELECT (max(u.sec) + 1) * 1000000000 FROM process_use_ u WHERE u.process = p.id), 0),
                        coalesce((SELECT max(c.ts) FROM cpu_sample_ c WHERE c.process = p.id), 0),
                        -- rows of calls are written before sums
                        coalesce((SELECT x.ts + 1
                                  FROM call_ x
                                  JOIN thread_ t ON t.id = x.thread
                                  WHERE x.id = (SELECT max(id) FROM call_) AND t.process = p.id), 0),
                        coalesce((SELECT x.ts
                                  FROM sample_ x
                                  JOIN thread_ t ON t.id = x.thread
                                  WHERE x.rowid = (SELECT max(rowid) FROM sample_) AND t.process = p.id), 0)))) AS until
FROM processes p
JOIN sessions s ON s.id = p.session
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
