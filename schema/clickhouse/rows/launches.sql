-- The view launches, read fast: what many launches share is looked up once. Its ids are those of calls. A test compares
-- both.
-- section: ids
SELECT iif(EXISTS (SELECT 1 FROM launch_),  -- else no call is read
           (SELECT coalesce(max(x.last_call), 0) + 1 FROM session_ x WHERE x.id < :session), NULL),
       iif(:session = (SELECT max(id) FROM session_), (SELECT max(id) FROM call_),
           (SELECT last_call FROM session_ WHERE id = :session))
-- section: rows
SELECT c.id, c.ts AS start, c.dur AS duration, iif(c.dur IS NULL, NULL, coalesce(c.result, 0)) AS result,
       c.caller AS caller_id, c.thread AS in_thread, c.fn AS of_function, c.launch, 0 AS nth,
       iif(EXISTS (SELECT 1 FROM more_launch_ WHERE call >= :from AND call < :to),  -- once for all rows
           (SELECT count(*) FROM more_launch_ o WHERE o.call = c.id), 0) AS more
FROM call_ c
WHERE c.id >= :from AND c.id < :to AND c.launch IS NOT NULL
UNION ALL
SELECT c.id, c.ts, c.dur, iif(c.dur IS NULL, NULL, coalesce(c.result, 0)), c.caller, c.thread, c.fn, m.launch, m.nth,
       (SELECT count(*) FROM more_launch_ o WHERE o.call = c.id)
FROM more_launch_ m
CROSS JOIN call_ c ON c.id = m.call
WHERE m.call >= :from AND m.call < :to
-- section: lookup in_thread
SELECT t.id, p.pid, t.tid
FROM thread_ t
JOIN process_ p ON p.id = t.process
-- section: lookup of_function
SELECT id, name AS function
FROM function_
-- section: lookup launch
SELECT l.id, coalesce(k.demangled, k.name) AS name, k.name AS mangled, k.library, g.gx AS grid_x, g.gy AS grid_y,
       g.gz AS grid_z, g.bx AS block_x, g.by AS block_y, g.bz AS block_z, g.shared AS shared_bytes, st.id AS stream_id,
       st.handle AS stream, l.kernel AS kernel_id, nullif(d.ordinal, -1) AS device, l.captured
FROM launch_ l
JOIN kernel_ k ON k.id = l.kernel
JOIN geometry_ g ON g.id = l.geometry
LEFT JOIN stream_ st ON st.id = l.stream
LEFT JOIN device_ d ON d.id = st.device
