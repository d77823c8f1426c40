-- The helpers of programs, by program.
-- over: processes
SELECT replace(exe, rtrim(exe, replace(exe, '/', '')), '') AS program, count(*) AS n, sum(count(*)) OVER () AS whole
FROM report
WHERE helper
GROUP BY 1
ORDER BY 2 DESC, 1
