-- The processes of a session, whose numbers ascend over the sessions of a recording, and the newest work of GPUs.
SELECT coalesce(min(id), 1) AS first_process, coalesce(max(id), 0) AS last_process,
       coalesce((SELECT max(id) FROM gpu_work_), 0) AS last_work
FROM process_
WHERE session = coalesce(:session, session)
