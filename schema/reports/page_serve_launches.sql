-- Ways of launching: the kernel, and the stream. stream 0: not known, or the launch went into a graph.
SELECT l.id, iif(l.captured, 0, coalesce(l.stream, 0)) AS stream, coalesce(k.demangled, k.name) AS name, p.pid,
       d.ordinal AS device,
       CASE s.handle WHEN 0 THEN 'default stream' WHEN 2 THEN 'per-thread default stream'
                     ELSE printf('stream 0x%x', s.handle) END AS stream_name
FROM launch_ l
JOIN kernel_ k ON k.id = l.kernel
LEFT JOIN stream_ s ON s.id = l.stream
LEFT JOIN process_ p ON p.id = s.process
LEFT JOIN device_ d ON d.id = s.device
WHERE k.session = coalesce(:session, k.session)
