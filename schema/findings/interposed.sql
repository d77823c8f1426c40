-- Something that is no HIP runtime answers for HIP.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environments
WHERE kind = 'interposed'
