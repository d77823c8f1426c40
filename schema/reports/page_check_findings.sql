-- The condition of fade-query check that needs all findings.
SELECT *, detail AS told
FROM finding_checks
WHERE session = coalesce(:session, session)
