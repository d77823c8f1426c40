-- The verdict of each session.
SELECT verdict, reason, evidence, advice, command, pid, processes, session,
       (SELECT r.rank FROM process_ranks r WHERE r.process_id = session_verdicts.process_id) AS rank,
       (SELECT count(*) FROM verdicts x WHERE x.session = session_verdicts.session AND NOT x.helper) AS no_helpers
FROM session_verdicts
WHERE session = coalesce(:session, session)
ORDER BY session
