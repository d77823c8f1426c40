-- Of each process: whether options left out all of a topic, whether everything is known, whether rows were wanted, and
-- why.
SELECT level = 'not'
       AND (narrowed LIKE '%events%' OR narrowed LIKE '%include%' OR narrowed LIKE '%exclude%') AS left_out,
       complete, coalesce(narrowed, '') LIKE '%detail%' AS only_counted, coalesce(why, '') AS why
FROM watched
WHERE session = coalesce(:session, session) AND process_id IS NOT NULL AND topic = :topic
ORDER BY 1 DESC, 2
