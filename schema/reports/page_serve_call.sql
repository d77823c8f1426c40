-- One call with everything that is known of it.
SELECT c.*, f.kind, f.library
FROM calls c
JOIN functions f ON f.id = c.function_id
WHERE c.id = :id AND c.session = coalesce(:session, c.session)
