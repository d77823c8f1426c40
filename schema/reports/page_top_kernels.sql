-- Kernels with their launches so far, and the time of the calls that launched them.
SELECT name, sum(launches) AS launches, sum(errors) AS errors, sum(launch_total_ns) AS total_ns
FROM kernel_runs
WHERE session = :session
GROUP BY name
