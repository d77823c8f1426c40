-- Two of libgomp, libomp and libiomp5.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environment_findings
WHERE kind = 'mixed-openmp'
