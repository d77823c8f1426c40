-- The rules of --actions, and how often each did something.
SELECT spec, done, failed FROM action_rules WHERE session = coalesce(:session, session) ORDER BY rule LIMIT 20
