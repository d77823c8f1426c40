-- Kernels by the number of launches
-- about: Launch times are those of the launching call on the host. GPU times are there with fade-run --gpu-times. Grid
--   and block are the most frequent ones.
-- about: A kernel whose code was loaded before fade recorded the program has no name, and its handle (0x...) stands
--   instead.
-- about: What launches of graphs ran is counted; their time is in the report graphs. What the code needs is in the
--   report code.
-- sort: -launches
-- limit: 40
-- leave: last_ns first_ns gpu_min_ns gpu_p99_ns gpu_p50_ns launch_max_ns vgprs streams devices shared_bytes geometries
--   in_graphs errors mode launch_avg_ns
-- none: no kernel was launched
-- question: work
-- topic: kernels
-- events: kernel
-- column: name             text      demangled
-- column: launches         count     how often
-- column: in_graphs        count     of these by launches of graphs
-- column: errors           count     launches that failed
-- column: geometries       count     different grids and blocks
-- column: grid             text      work-groups
-- column: block            text      work-items of a work-group
-- column: shared_bytes     bytes     dynamic shared memory (LDS)
-- column: streams          count     different streams, those of graphs not counted
-- column: devices          text      ordinals of the streams' devices
-- column: mode             text      WGP: a work-group may use both compute units of a work-group processor; CU: one
--   (report code)
-- column: vgprs            count     vector registers of a work-item (report code)
-- column: launch_total_ns  net       time of the launching calls
-- column: launch_avg_ns    net       of one
-- column: launch_max_ns    duration  the longest
-- column: gpu_runs         count     runs whose time on the GPU is known
-- column: gpu_total_ns     duration  time of these on the GPU
-- column: gpu_avg_ns       duration  of one
-- column: gpu_min_ns       duration  the shortest
-- column: gpu_p50_ns       duration  half took at most this long (from a histogram, about 20 % exact)
-- column: gpu_p99_ns       duration  99 of 100 took at most this long
-- column: gpu_max_ns       duration  the longest
-- column: first_ns         time      first launch
-- column: last_ns          time      last launch
WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY kernel_id ORDER BY launches DESC) AS place FROM kernel_runs
  WHERE true /*? AND session = :session */ /*? AND name REGEXP :name */
), code AS (
  SELECT kernel_id, group_concat(DISTINCT mode) AS mode, max(vgprs) AS vgprs FROM kernel_codes WHERE coalesce(used, 1)
    GROUP BY kernel_id
), place AS (
  SELECT kernel_id, count(*) AS streams, group_concat(DISTINCT device) AS devices FROM kernel_streams GROUP BY kernel_id
), gpu AS (
  SELECT kernel_id, max(name) AS name, sum(n) AS runs, sum(total_ns) AS total_ns, sum(total_ns) / sum(n) AS avg_ns,
    min(min_ns) AS min_ns,
         fade_percentile(hist, 0.5, min_ns, max_ns) AS p50_ns, fade_percentile(hist, 0.99, min_ns, max_ns) AS p99_ns,
           max(max_ns) AS max_ns
  FROM gpu_stats WHERE kind = 'kernel' GROUP BY kernel_id
)
SELECT coalesce(u.name, r.name) AS name, sum(launches) AS launches, sum(in_graphs) AS in_graphs,
  sum(errors) AS errors, count(*) AS geometries,
       max(CASE place WHEN 1 THEN grid_x || 'x' || grid_y || 'x' || grid_z END) AS grid,
       max(CASE place WHEN 1 THEN block_x || 'x' || block_y || 'x' || block_z END) AS block,
       max(CASE place WHEN 1 THEN shared_bytes END) AS shared_bytes,
       coalesce(p.streams, iif(sum(launches) > sum(in_graphs), NULL, 0)) AS streams, p.devices, c.mode, c.vgprs,
       nullif(sum(launch_total_ns), 0) AS launch_total_ns,
         sum(launch_total_ns) / nullif(sum(launches) - sum(in_graphs), 0) AS launch_avg_ns,
       max(launch_max_ns) AS launch_max_ns, u.runs AS gpu_runs,
       u.total_ns AS gpu_total_ns, u.avg_ns AS gpu_avg_ns, u.min_ns AS gpu_min_ns, u.p50_ns AS gpu_p50_ns,
         u.p99_ns AS gpu_p99_ns, u.max_ns AS gpu_max_ns, min(first) AS first_ns, max(last) AS last_ns
FROM ranked r LEFT JOIN code c ON c.kernel_id = r.kernel_id LEFT JOIN place p ON p.kernel_id = r.kernel_id
LEFT JOIN gpu u ON u.kernel_id = r.kernel_id GROUP BY r.kernel_id
