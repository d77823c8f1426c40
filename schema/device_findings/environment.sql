-- Where libraries came from: several-copies, mixed-openmp, mixed-rocm, and other-copy-not-taken.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environment_findings
WHERE kind NOT IN ('interposed', 'preloaded', 'audited')
