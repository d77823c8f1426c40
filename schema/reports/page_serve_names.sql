-- Names of functions.
SELECT id, name
FROM function_
WHERE session = coalesce(:session, session)
