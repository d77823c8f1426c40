-- What stands between the program and the runtime: interposed, preloaded, and audited (LD_AUDIT).
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environment_findings
WHERE kind IN ('interposed', 'preloaded', 'audited')
