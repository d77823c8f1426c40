-- Copies by the GPU's copy engines as rows of rocpd_memory_copy.
SELECT p.session, p.pid AS filter_pid, t.tid AS filter_tid, 1 AS nid, p.id AS pid, w.thread AS tid, w.ts AS start,
       w.ts + w.dur AS "end",
       CASE y.kind
         WHEN 0 THEN 'MEMORY_COPY_HOST_TO_HOST'
         WHEN 1 THEN 'MEMORY_COPY_HOST_TO_DEVICE'
         WHEN 2 THEN 'MEMORY_COPY_DEVICE_TO_HOST'
         WHEN 3 THEN 'MEMORY_COPY_DEVICE_TO_DEVICE'
         WHEN 1024 THEN 'MEMORY_COPY_DEVICE_TO_DEVICE'
         ELSE 'MEMORY_COPY_NONE' END AS name_id,
       CASE WHEN y.kind IN (1, 3, 1024) THEN 1000000 + d.id WHEN y.kind IN (0, 2) THEN p.id
         ELSE 1000000 + d.id END AS dst_agent_id,
       y.dst AS dst_address,
       CASE WHEN y.kind IN (2, 3, 1024) THEN 1000000 + d.id WHEN y.kind IN (0, 1) THEN p.id
         ELSE 1000000 + d.id END AS src_agent_id,
       y.src AS src_address, coalesce(w.bytes, 0) AS size, coalesce(w.stream, 1000000000 + p.id) AS stream_id,
       coalesce(f.name, '') AS region_name_id, 'MEMORY_COPY' AS event_category, coalesce(w.call, 0) AS event_stack,
       coalesce(w.call, 0) AS event_parent, json_object('kind', iif(w.kind = 1, 'copy', 'fill'), 'device',
         d.ordinal) AS extdata
FROM gpu_work_ w
JOIN process_ p ON p.id = w.process
JOIN device_ d ON d.id = w.device AND d.ordinal >= 0
LEFT JOIN thread_ t ON t.id = w.thread
LEFT JOIN copy_ y ON y.call = w.call
LEFT JOIN call_ c ON c.id = w.call
LEFT JOIN function_ f ON f.id = c.fn
WHERE w.kernel IS NULL AND w.kind IN (1, 2)
