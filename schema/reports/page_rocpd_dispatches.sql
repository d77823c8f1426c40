-- Work of kernels as rows of rocpd_kernel_dispatch. rocpd counts a grid in work-items.
SELECT p.session, p.pid AS filter_pid, t.tid AS filter_tid, w.id AS dispatch_id, 1 AS nid, p.id AS pid, w.thread AS tid,
       1000000 + d.id AS agent_id, w.kernel AS kernel_id, w.process * 65536 + coalesce(w.queue, 0) AS queue_id,
       coalesce(w.stream, 1000000000 + p.id) AS stream_id, w.ts AS start, w.ts + w.dur AS "end",
       coalesce(g.shared, 0) AS group_segment_size, 0 AS private_segment_size,
       coalesce(g.bx, 0) AS workgroup_size_x, coalesce(g.by, 0) AS workgroup_size_y,
         coalesce(g.bz, 0) AS workgroup_size_z,
       coalesce(g.gx * g.bx, 0) AS grid_size_x, coalesce(g.gy * g.by, 0) AS grid_size_y,
       coalesce(g.gz * g.bz, 0) AS grid_size_z, coalesce(f.name, '') AS region_name_id,
       'KERNEL_DISPATCH' AS event_category, coalesce(w.call, 0) AS event_stack, coalesce(w.call, 0) AS event_parent,
       json_object('kind', iif(w.kind = 0, 'kernel', iif(w.kind = 1, 'copy', 'fill')), 'bytes', w.bytes) AS extdata
FROM gpu_work_ w
JOIN process_ p ON p.id = w.process
JOIN device_ d ON d.id = w.device AND d.ordinal >= 0
LEFT JOIN thread_ t ON t.id = w.thread
LEFT JOIN call_ c ON c.id = w.call
LEFT JOIN function_ f ON f.id = c.fn
LEFT JOIN launch_ l ON l.id = c.launch AND NOT EXISTS (SELECT 1 FROM more_launch_ m WHERE m.call = c.id)
LEFT JOIN geometry_ g ON g.id = l.geometry
WHERE w.kernel IS NOT NULL AND w.kind <> 3
