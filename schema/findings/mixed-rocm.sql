-- Libraries of several releases of ROCm in one process.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environment_findings
WHERE kind = 'mixed-rocm'
