-- How many processes there are, and how many of them called.
SELECT count(*) AS processes,
       (SELECT count(DISTINCT process_id)
        FROM threads
        WHERE calls > 0 AND session = coalesce(:session, session)) AS callers
FROM processes
WHERE session = coalesce(:session, session)
