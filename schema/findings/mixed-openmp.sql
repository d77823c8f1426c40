-- Two of libgomp, libomp and libiomp5.
SELECT session, pid, NULL, kind, severity, subject, text, advice
FROM environments
WHERE kind = 'mixed-openmp'
