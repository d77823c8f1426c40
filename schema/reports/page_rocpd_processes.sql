-- Processes as rows of rocpd_info_process. Only the variables that a recording keeps are in environment.
SELECT p.session, p.id, 1 AS nid, p.ppid, p.pid, p.start AS init, p."end" AS fini, p.start, p."end", p.command,
       iif(json_valid(p.env), p.env, '{}') AS environment,
       json_object('exe', p.exe, 'exit_code', p.exit_code, 'exit_signal', p.exit_signal) AS extdata
FROM processes p
WHERE p.session = coalesce(:session, p.session) AND (:pid IS NULL OR p.pid = :pid)
  AND (:rank IS NULL OR p.id IN (SELECT process_id FROM process_ranks WHERE rank = :rank))
