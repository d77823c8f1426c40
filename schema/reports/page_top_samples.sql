-- Samples behind the row :after, by process and frame.
SELECT t.process, x.frame, count(*) AS samples, max(x.rowid) AS last
FROM sample_ x
JOIN thread_ t ON t.id = x.thread
JOIN process_ p ON p.id = t.process
WHERE x.rowid > :after AND p.session = :session
GROUP BY t.process, x.frame
