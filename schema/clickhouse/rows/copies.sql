-- The view copies. Its ids are those of calls.
-- section: ids
SELECT (SELECT coalesce(max(x.last_call), 0) + 1 FROM session_ x WHERE x.id < :session),
       iif(:session = (SELECT max(id) FROM session_), (SELECT max(call) FROM copy_),
           (SELECT last_call FROM session_ WHERE id = :session))
-- section: rows
SELECT *
FROM copies
WHERE id >= :from AND id < :to
