-- Libraries of several releases of ROCm in one process.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environments
WHERE kind = 'mixed-rocm'
