-- A library that is loaded twice, from different files.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environment_findings
WHERE kind = 'several-copies'
