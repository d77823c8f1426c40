-- Findings, errors first; several processes with the same are one row.
SELECT severity, finding, subject, text, advice, group_concat(DISTINCT pid) AS pids
FROM findings
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:device IS NULL OR device = :device)
  AND (:rank IS NULL OR (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  AND (:name IS NULL OR finding REGEXP :name)
GROUP BY session, severity, finding, subject, text, advice
ORDER BY CASE severity WHEN 'error' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END, subject, finding
