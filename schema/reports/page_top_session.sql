-- The session that fade top shows: the newest one of the recording when it began. gpus: of the driver. ran_ns: its age
-- when it ended or last had a call.
SELECT s.id, s.start_ns, s.end_ns IS NOT NULL AS ended, s.clean,
       coalesce(s.end_ns - s.start_ns,
                (SELECT (max(u.sec) + 1) * 1000000000
                 FROM process_use_ u
                 JOIN process_ p ON p.id = u.process
                 WHERE p.session = s.id), 0) AS ran_ns,
       NOT EXISTS (SELECT 1
                   FROM module_ m
                   JOIN process_ p ON p.id = m.process
                   WHERE p.session = s.id AND m.role IN ('hip', 'cuda')) AS without_hip,
       (SELECT count(*) FROM kfd_nodes k WHERE k.session = s.id AND k.gpu_id > 0) AS gpus
FROM sessions s
WHERE s.id = coalesce(:session, s.id)
ORDER BY s.id DESC
LIMIT 1
