-- Stacks of the thread that a postmortem is about, and of threads that were in a call.
SELECT tid, name, stack
FROM postmortem_threads
WHERE postmortem_id = :postmortem AND stack IS NOT NULL
ORDER BY cause DESC, call IS NULL, earlier IS NULL, age_ns DESC
LIMIT 4
