-- Each session with the end of its first process, its size and the names of its GPUs. Ranks as launchers of parallel
-- programs set them; 0 without any.
WITH judged AS MATERIALIZED (
  SELECT session, sum(NOT helper) AS processes, sum(helper) AS helpers
  FROM verdicts
  GROUP BY session)
SELECT s.id, s.command, coalesce(p.duration, s.duration) AS duration, p.exit_code, p.exit_signal,
       s.kind = 'attach' AS attached, s.clean, s.start_ns, s.host, s.fade_version,
       coalesce(j.processes, 0) AS processes, coalesce(j.helpers, 0) AS helpers,
       (SELECT count(DISTINCT r.rank) FROM process_ranks r WHERE r.session = s.id) AS ranks,
       (SELECT group_concat(name, ', ')
        FROM (
          SELECT DISTINCT d.name
          FROM devices d
          WHERE d.session = s.id AND d.ordinal >= 0 AND d.name IS NOT NULL)) AS gpus
FROM sessions s
LEFT JOIN judged j ON j.session = s.id
LEFT JOIN processes p ON p.id = (SELECT min(y.id) FROM processes y WHERE y.session = s.id)
WHERE s.id = coalesce(:session, s.id)
ORDER BY s.id
