-- What the driver said about each GPU during the recording: load, memory, power, temperature, clocks
-- about: fade reads the sensors of the amdgpu driver ten times a second. They speak of all programs that use the GPU,
--   not only of the recorded ones.
-- about: The load is the driver's own figure (gpu_busy_percent). A GPU that is suspended is not asked, because that may
--   wake it.
-- about: own and others are by the driver, once a second. In a container with process ids of its own, all processes
--   count as others, and drm_bytes has what recorded processes held.
-- sort: node
-- leave: drm_busy_percent drm_host_bytes drm_bytes memory_mhz memory_busy_percent host_memory_bytes asleep_percent
--   hip_peak_bytes name pci mhz celsius_most watts_most
-- none: no sensor of an AMD GPU was read: the driver shows no GPU in sysfs, or --no-sensors was given
-- question: work
-- topic: file
-- column: node                 id        of the driver's topology (KFD)
-- column: name                 text      of the chip, by the driver
-- column: pci                  text      address on the bus
-- column: seconds              duration  that were looked at
-- column: asleep_percent       number    percent of the looks, those at which the GPU was suspended
-- column: busy_percent         number    average load of the shaders, in percent
-- column: busy_most            number    its highest reading
-- column: idle_percent         number    percent of the seconds, those without any load
-- column: memory_busy_percent  number    average load of the memory, in percent
-- column: memory_bytes         bytes     GPU memory in use, at most
-- column: memory_total_bytes   bytes     GPU memory of the board
-- column: own_bytes            bytes     held by recorded processes, at most, by the driver
-- column: others_bytes         bytes     held by other processes, at most, by the driver
-- column: drm_bytes            bytes     held by recorded processes, at most, by their open files of the DRM driver
-- column: drm_host_bytes       bytes     host memory that recorded processes held for the GPU, at most
-- column: drm_busy_percent     number    percent of the time, load of engines by them; compute queues of HIP are not in
--   it
-- column: hip_peak_bytes       bytes     allocated by recorded HIP calls: the sum of the peaks of all recorded
--   processes
-- column: host_memory_bytes    bytes     host memory that the GPU had in use, at most
-- column: watts                number    average power
-- column: watts_most           number    the highest reading
-- column: celsius_most         number    the highest temperature at the edge
-- column: mhz                  number    average clock of the shaders
-- column: memory_mhz           number    average clock of the memory
WITH change AS (
  SELECT session, node, start, recorded,
    bytes - lag(bytes, 1, 0) OVER (PARTITION BY session, node, pid ORDER BY start) AS more
  FROM gpu_holders
  WHERE true /*? AND session = :session */),
running AS (
  SELECT session, node, recorded, sum(more) OVER (PARTITION BY session, node, recorded ORDER BY start) AS held
    FROM change),
held AS MATERIALIZED (
  SELECT session, node, max(iif(recorded, held, 0)) AS own, max(iif(recorded, 0, held)) AS others FROM running
    GROUP BY session, node),
client AS (
  SELECT session, node, start, memory - lag(memory, 1, 0) OVER p AS more,
    host_memory - lag(host_memory, 1, 0) OVER p AS host_more,
         graphics_ns + compute_ns + copy_ns + other_ns AS ns
  FROM gpu_clients
  WHERE true /*? AND session = :session */
  WINDOW p AS (PARTITION BY session, node, pid ORDER BY start)),
in_use AS (
  SELECT session, node, ns, sum(more) OVER n AS held, sum(host_more) OVER n AS host_held
  FROM client WINDOW n AS (PARTITION BY session, node ORDER BY start)),
used AS MATERIALIZED (
  SELECT session, node, max(held) AS held, max(host_held) AS host_held, sum(ns) AS ns FROM in_use GROUP BY session,
    node),
asked AS MATERIALIZED (
  SELECT t.session, t.node, sum(m.peak) AS peak
  FROM device_truth t
  JOIN memory_totals m ON m.session = t.session AND m.pid = t.pid AND m.device = t.device
  WHERE t.node IS NOT NULL AND m.memory = 'device' /*? AND t.session = :session */
  GROUP BY t.session, t.node)
SELECT g.node, g.name, g.pci, sum(g.duration) AS seconds,
  round(100.0 * sum(g.asleep) / sum(g.looks), 1) AS asleep_percent,
       round(sum(g.busy_percent * g.duration) / sum(iif(g.busy_percent IS NULL, NULL, g.duration)), 1) AS busy_percent,
       max(g.busy_percent_most) AS busy_most,
       round(100.0 * sum(iif(g.busy_percent_most = 0, g.duration, 0)) / sum(iif(g.busy_percent IS NULL, NULL,
         g.duration)), 1) AS idle_percent,
       round(sum(g.memory_busy_percent * g.duration) / sum(iif(g.memory_busy_percent IS NULL, NULL, g.duration)),
         1) AS memory_busy_percent,
       max(g.memory_most) AS memory_bytes, max(g.memory_total) AS memory_total_bytes,
       (SELECT h.own FROM held h WHERE h.session = g.session AND h.node = g.node) AS own_bytes,
       (SELECT h.others FROM held h WHERE h.session = g.session AND h.node = g.node) AS others_bytes,
       (SELECT u.held FROM used u WHERE u.session = g.session AND u.node = g.node) AS drm_bytes,
       (SELECT u.host_held FROM used u WHERE u.session = g.session AND u.node = g.node) AS drm_host_bytes,
       round(100.0 * (SELECT u.ns FROM used u WHERE u.session = g.session
         AND u.node = g.node) / nullif(sum(g.duration), 0), 1) AS drm_busy_percent,
       (SELECT a.peak FROM asked a WHERE a.session = g.session AND a.node = g.node) AS hip_peak_bytes,
       max(g.host_memory_most) AS host_memory_bytes,
       round(sum(g.watts * g.duration) / sum(iif(g.watts IS NULL, NULL, g.duration)), 1) AS watts,
         round(max(g.watts_most), 1) AS watts_most,
       round(max(g.celsius_most), 1) AS celsius_most,
       round(sum(g.mhz * g.duration) / sum(iif(g.mhz IS NULL, NULL, g.duration))) AS mhz,
       round(sum(g.memory_mhz * g.duration) / sum(iif(g.memory_mhz IS NULL, NULL, g.duration))) AS memory_mhz
FROM gpu_samples g
WHERE true /*? AND g.session = :session */ /*? AND g.start >= :from */ /*? AND g.start < :to */
GROUP BY g.session, g.node
