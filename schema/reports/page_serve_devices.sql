-- Devices of processes; device 0: not known.
SELECT d.id, p.id AS process, p.pid, d.ordinal
FROM process_ p
LEFT JOIN device_ d ON d.process = p.id AND d.ordinal >= 0
WHERE p.session = coalesce(:session, p.session)
