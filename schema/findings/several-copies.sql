-- A library that is loaded twice, from different files.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environments
WHERE kind = 'several-copies'
