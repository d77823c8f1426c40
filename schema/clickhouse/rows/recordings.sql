-- The recording itself: one row.
-- section: rows
SELECT s.id AS session, :file AS file, s.kind, s.start_ns, s.end_ns, s.duration, s.boot_ns, s.boot_id, s.kernel, s.cwd,
       s.command, s.options, s.detail, s.fade_version, s.clean AS closed, :complete AS complete, p.pid,
       (SELECT count(*) FROM processes x WHERE x.session = s.id) AS processes,
       (SELECT count(DISTINCT r.rank) FROM process_ranks r WHERE r.session = s.id) AS ranks,
       (SELECT max(r.world_size) FROM process_ranks r WHERE r.session = s.id) AS world_size,
       (SELECT iif(count(DISTINCT r.rank) = 1, max(r.local_rank), NULL) FROM process_ranks r WHERE r.session = s.id)
         AS local_rank,
       (SELECT iif(count(DISTINCT r.rank) = 1, max(r.group_rank), NULL) FROM process_ranks r WHERE r.session = s.id)
         AS group_rank,
       (SELECT max(r.source) FROM process_ranks r WHERE r.session = s.id) AS rank_source, p.exit_code, p.exit_signal,
       (SELECT max(o.rocm) FROM module_origins o WHERE o.session = s.id) AS rocm,
       (SELECT group_concat(DISTINCT d.name) FROM devices d WHERE d.session = s.id) AS gpu,
       (SELECT coalesce(sum(c.calls), 0) FROM call_stats c WHERE c.session = s.id) AS calls,
       (SELECT coalesce(sum(c.errors), 0) FROM call_stats c WHERE c.session = s.id) AS errors,
       (SELECT coalesce(sum(u.launches), 0) FROM process_use u WHERE u.session = s.id) AS launches,
       (SELECT v.verdict FROM session_verdicts v WHERE v.session = s.id) AS verdict,
       (SELECT user_version FROM pragma_user_version) AS schema, :stamp AS stamp, :now AS pushed_ns
FROM sessions s
LEFT JOIN processes p ON p.id = (SELECT min(x.id) FROM processes x WHERE x.session = s.id)
WHERE s.id = :session
