-- The conditions of fade-query check, but findings.
SELECT *, iif(title = 'crashed', replace(detail, 'it died of ', ''), detail) AS told
FROM session_checks
WHERE session = coalesce(:session, session)
