-- Kernels by the number of launches
-- about: Times are those of the launching call on the host, not of the kernel on the GPU. Grid and block are the most frequent ones.
-- sort: -launches
-- limit: 40
-- leave: last_ns first_ns launch_max_ns streams shared_bytes geometries errors launch_avg_ns
-- column: name             text      demangled
-- column: launches         count     how often
-- column: errors           count     launches that failed
-- column: geometries       count     different grids and blocks
-- column: grid             text      work-groups
-- column: block            text      work-items of a work-group
-- column: shared_bytes     bytes     dynamic shared memory (LDS)
-- column: streams          count     different streams
-- column: launch_total_ns  duration  time of the launching calls
-- column: launch_avg_ns    duration  of one
-- column: launch_max_ns    duration  the longest
-- column: first_ns         time      first launch
-- column: last_ns          time      last launch
WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY kernel_id ORDER BY launches DESC) AS place FROM kernel_stats
  WHERE true /*? AND session = :session */ /*? AND name REGEXP :name */
)
SELECT name, sum(launches) AS launches, sum(errors) AS errors, count(*) AS geometries,
       max(CASE place WHEN 1 THEN grid_x || 'x' || grid_y || 'x' || grid_z END) AS grid,
       max(CASE place WHEN 1 THEN block_x || 'x' || block_y || 'x' || block_z END) AS block,
       max(CASE place WHEN 1 THEN shared_bytes END) AS shared_bytes,
       (SELECT count(DISTINCT coalesce(l.stream, 0)) FROM launch_ l WHERE l.kernel = ranked.kernel_id) AS streams,
       sum(launch_total_ns) AS launch_total_ns, sum(launch_total_ns) / nullif(sum(launches), 0) AS launch_avg_ns,
       max(launch_max_ns) AS launch_max_ns, min(first) AS first_ns, max(last) AS last_ns
FROM ranked GROUP BY kernel_id
