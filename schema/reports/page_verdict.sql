-- The verdict of the newest session.
SELECT verdict, reason
FROM session_verdicts
WHERE session = coalesce(:session, session)
ORDER BY session DESC
LIMIT 1
