-- The newest failures. Later failures of one kind add up in one row, so there are few rows.
SELECT id, process_id AS process, pid, name, coalesce(error, code) AS error, repeats, last, caller
FROM failures
WHERE id IN (
  SELECT f.id FROM failures f WHERE f.session = :session AND NOT f.normal ORDER BY f.last DESC LIMIT 50)
ORDER BY last DESC
