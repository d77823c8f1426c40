-- LD_AUDIT in a program that loads the GPU stack.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environments
WHERE kind = 'audited'
