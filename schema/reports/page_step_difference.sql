-- The category that took the most time more in the slowest step of a thread.
-- over: step_diff
SELECT category, more_ns, calls, usual_calls
FROM report
WHERE step = (SELECT idx FROM steps WHERE slow AND thread_id = :thread ORDER BY duration DESC LIMIT 1)
  AND tid = (SELECT tid FROM threads WHERE id = :thread)
ORDER BY more_ns DESC
LIMIT 1
