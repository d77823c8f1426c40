-- The threads that made the most of steps.
-- over: step_summary
SELECT *
FROM report
WHERE thread_id IN (SELECT thread_id FROM steps WHERE session = coalesce(:session, session))
  AND (:pid IS NULL OR pid = :pid) AND (:rank IS NULL OR rank = :rank)
ORDER BY total_ns DESC
LIMIT 10
