-- Names of rocprofv3's rocpd, so that its users' SQL keeps working.

CREATE VIEW regions AS
SELECT id, NULL AS guid, category, name, NULL AS nid, pid, tid, start, "end", duration, id AS event_id,
       stack AS stack_id, parent_id AS parent_stack_id, id AS correlation_id
FROM calls;

CREATE VIEW kernels AS
SELECT id, NULL AS guid, tid, 'KERNEL_DISPATCH' AS category, name, NULL AS nid, pid, start, "end", duration, grid_x,
       grid_y, grid_z, block_x AS workgroup_x, block_y AS workgroup_y, block_z AS workgroup_z, shared_bytes AS lds_size,
       stream_id, stack AS stack_id
FROM launches;

CREATE VIEW memory_copies AS
SELECT id, NULL AS guid, 'MEMORY_COPY' AS category, NULL AS nid, pid, tid, start, "end", duration, name, stream_id,
       size, src AS src_address, dst AS dst_address, stack AS stack_id
FROM copies;

CREATE VIEW memory_allocations AS
SELECT id, NULL AS guid, 'MEMORY_ALLOCATION' AS category, NULL AS nid, pid, start, "end", lifetime AS duration,
       kind AS level, device AS agent_abs_index, addr AS address, size, stack AS stack_id
FROM allocations;

CREATE VIEW top_kernels AS
SELECT name, sum(launches) AS total_calls, sum(launch_total_ns) AS total_duration,
       sum(launch_total_ns) / sum(launches) AS average,
       round(100.0 * sum(launch_total_ns) / nullif((SELECT sum(launch_total_ns) FROM kernel_stats), 0), 2) AS percentage
FROM kernel_stats
GROUP BY name
ORDER BY total_calls DESC;
