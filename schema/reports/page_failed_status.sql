-- A row if the program that was started ended with a status of its own, not one that is a signal.
SELECT p.exit_code
FROM processes p
WHERE p.id = (SELECT min(x.id) FROM processes x WHERE x.session = coalesce(:session, x.session))
  AND p.exit_code > 0 AND p.exit_code NOT IN (129, 130, 137, 143)
