-- There is another file of that library where the user may expect it to come from.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environments
WHERE kind = 'other-copy-not-taken'
