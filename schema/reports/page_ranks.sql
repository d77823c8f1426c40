-- The job: its ranks in this recording, where they come from, and whether collective operations can be compared.
SELECT count(DISTINCT rank) AS here, max(world_size) AS world, group_concat(DISTINCT source) AS sources,
       (SELECT group_concat(h.host) FROM (SELECT DISTINCT r.host FROM process_ranks r
                                          WHERE r.session = coalesce(:session, r.session) ORDER BY r.host) h) AS hosts,
       count(DISTINCT group_rank) AS groups,
       (SELECT count(DISTINCT j.job) FROM jobs j JOIN process_ranks r ON r.session = j.session
        WHERE j.session = coalesce(:session, j.session)) AS jobs,
       (SELECT count(DISTINCT j.machine) FROM jobs j JOIN process_ranks r ON r.session = j.session
        WHERE j.session = coalesce(:session, j.session)) AS machines,
       (SELECT sum(f.calls) FROM functions f WHERE f."group" = 'comm' AND f.session = coalesce(:session, f.session)
          AND f.name GLOB 'nccl[ABGRS]*' AND f.name NOT IN ('ncclSend', 'ncclRecv', 'ncclGetUniqueId')) AS operations,
       (SELECT w.why FROM narrowings w JOIN process_ranks r ON r.process_id = w.process_id
        WHERE w.session = coalesce(:session, w.session)
          AND (w.word IN ('attach', 'delay', 'drops', 'size limit', 'sums', 'vanished')
               OR (w.word = 'window' AND w."end" IS NOT NULL)) LIMIT 1) AS missing
FROM process_ranks
WHERE session = coalesce(:session, session)
