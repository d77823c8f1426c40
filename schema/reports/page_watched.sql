-- Of each process: whether options left out all of a topic, whether everything is known, whether calls that were seen
-- have rows, and why not.
SELECT level = 'not'
       AND (narrowed LIKE '%events%' OR narrowed LIKE '%include%' OR narrowed LIKE '%exclude%') AS left_out,
       complete, has_rows, coalesce(why, '') AS why
FROM watched
WHERE session = coalesce(:session, session) AND process_id IS NOT NULL AND topic = :topic
ORDER BY 1 DESC, 2
