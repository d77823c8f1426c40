-- The places that held the memory of a row of page_peak.
-- over: memory_peak
SELECT sum(size_bytes) AS size_bytes, sum(percent) AS percent, sum(n) AS n, name, user_line, caller,
       max(stack) AS stack, max(largest_bytes) AS largest_bytes, max(NULL) AS growth
FROM (SELECT *, name || ';' || coalesce(fade_frames(stack, 1), caller, '') AS place FROM report)
WHERE pid = :process AND device IS :of_device AND memory = :kind
GROUP BY place
ORDER BY growth IS NULL, 1 DESC, 3 DESC
LIMIT :most
