-- A number that changes when sums were written: of each process, its last second with calls. Asked ten times a second.
SELECT sum(u.sec * 1000003 + u.calls) AS mark
FROM process_ p
JOIN process_use_ u ON u.process = p.id AND u.sec = (SELECT max(x.sec) FROM process_use_ x WHERE x.process = p.id)
WHERE p.session = :session
