-- Findings, errors first; several processes with the same are one row. :all: those about devices are not enough, and
-- --name is about findings.
SELECT severity, finding, subject, text, advice, group_concat(DISTINCT pid) AS pids
FROM findings
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:device IS NULL OR device = :device)
  AND (:rank IS NULL OR (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank))
  AND (NOT :all OR :name IS NULL OR finding REGEXP :name)
  AND (:all OR finding NOT IN ('audited', 'copy-ping-pong', 'double-free', 'gpu-idle-copy', 'gpu-idle-host',
                               'gpu-idle-launch', 'gpu-idle-sync', 'grows-with-steps', 'interposed', 'kernels-unnamed',
                               'out-of-memory', 'preloaded', 'small-copies', 'tiny-kernels', 'unbalanced-ranges', 'unknown-pointer'))
GROUP BY session, severity, finding, subject, text, advice
ORDER BY CASE severity WHEN 'error' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END, subject, finding
