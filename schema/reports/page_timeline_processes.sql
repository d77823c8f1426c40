-- Processes and the ranks of those that have one.
SELECT p.session, p.pid, p.exe, p.command, p.rank
FROM processes p
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid) AND (:rank IS NULL OR p.rank = :rank)
ORDER BY p.id
