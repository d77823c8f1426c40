-- The newest failures. Later failures of one kind add up in one row, so there are few rows.
SELECT id, process_id AS process, pid, name, coalesce(error, code) AS error, repeats, last, caller
FROM failures
WHERE session = :session AND NOT normal
  AND id IN (SELECT e.id FROM error_ e ORDER BY e.ts_last DESC LIMIT 200)
ORDER BY last DESC
LIMIT 50
