-- The verdict of each session.
SELECT verdict, reason, evidence, advice, command, pid, processes, session,
       (SELECT r.rank FROM process_ranks r WHERE r.process_id = session_verdicts.process_id) AS rank
FROM session_verdicts
WHERE session = coalesce(:session, session)
ORDER BY session
