-- Kernels by the number of launches, over all ranks
-- about: Kernels of one name are one row. --by job, host, rank or device has a row for each of these. GPU times are
-- about: there with fade-run --gpu-times.
-- sort: -launches
-- limit: 40
-- leave: gpu_min_ns recordings launch_max_ns in_graphs errors launch_avg_ns
-- none: no kernel was launched
-- column: name             text      demangled
-- column: job             text      with --by job
-- column: host            text      with --by host
-- column: rank            count     with --by rank
-- column: device           id        with --by device, as its process numbers it; launches are not told by device
-- column: launches         count     how often
-- column: in_graphs        count     of these by launches of graphs
-- column: errors           count     launches that failed
-- column: launch_total_ns  net       time of the launching calls
-- column: launch_avg_ns    net       of one
-- column: launch_max_ns    duration  the longest
-- column: gpu_runs         count     runs whose time on the GPU is known
-- column: gpu_total_ns     duration  time of these on the GPU
-- column: gpu_avg_ns       duration  of one
-- column: gpu_min_ns       duration  the shortest
-- column: gpu_max_ns       duration  the longest
-- column: slowest_rank     count     the rank with the highest average time on the GPU
-- column: slowest_avg_ns   duration  its average
-- column: recordings       count     that launched it
SELECT name, nullIf(by_job, '') AS job, nullIf(by_host, '') AS host, by_rank AS rank, by_device AS device,
  sum(n) AS launches, sum(graphs) AS in_graphs, sum(failed) AS errors,
  nullIf(sum(total), 0) AS launch_total_ns,
  if(sum(n) - sum(graphs) = 0, NULL, intDiv(sum(total), greatest(sum(n) - sum(graphs), 1))) AS launch_avg_ns,
    max(longest) AS launch_max_ns,
  nullIf(sum(runs), 0) AS gpu_runs, if(sum(runs) = 0, NULL, sum(gpu)) AS gpu_total_ns,
  if(sum(runs) = 0, NULL, intDiv(sum(gpu), greatest(sum(runs), 1))) AS gpu_avg_ns, min(gpu_least) AS gpu_min_ns,
    max(gpu_most) AS gpu_max_ns,
  if(sum(runs) = 0, NULL, argMaxIf(rank_, gpu / runs, runs > 0)) AS slowest_rank,
  if(sum(runs) = 0, NULL, toInt64(maxIf(gpu / runs, runs > 0))) AS slowest_avg_ns, uniqExact(recording) AS recordings
FROM (
  SELECT name, recording, by_job, by_host, by_rank, by_device, any(ifNull(rank, -1)) AS rank_,
    toInt64(sum(launched)) AS n,
    toInt64(sum(graphed)) AS graphs, toInt64(sum(bad)) AS failed, toInt64(sum(launch_ns)) AS total,
      max(launch_most) AS longest,
    toInt64(sum(ran)) AS runs, toInt64(sum(ran_ns)) AS gpu, min(ran_least) AS gpu_least, max(ran_most) AS gpu_most
  FROM (
    SELECT name, recording, rank, if(ifNull(:by, '') = 'job', job, substring(job, 1, 0)) AS by_job,
      if(ifNull(:by, '') = 'host', host, substring(host, 1, 0)) AS by_host,
      if(ifNull(:by, '') = 'rank', rank, nullIf(rank, rank)) AS by_rank,
      nullIf(rank, rank) AS by_device, launches AS launched, ifNull(in_graphs, 0) AS graphed, errors AS bad,
      ifNull(launch_total_ns, 0) AS launch_ns, launch_max_ns AS launch_most, materialize(toInt64(0)) AS ran,
      materialize(toInt64(0)) AS ran_ns, nullIf(rank, rank) AS ran_least, nullIf(rank, rank) AS ran_most
    FROM kernel_runs
    WHERE ifNull(:by, '') != 'device' /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
      /*? AND match(name, :name) */
    UNION ALL
    SELECT name, recording, rank, if(ifNull(:by, '') = 'job', job, substring(job, 1, 0)) AS by_job,
      if(ifNull(:by, '') = 'host', host, substring(host, 1, 0)) AS by_host,
      if(ifNull(:by, '') = 'rank', rank, nullIf(rank, rank)) AS by_rank,
      if(ifNull(:by, '') = 'device', device, nullIf(device, device)) AS by_device, materialize(toInt64(0)),
      materialize(toInt64(0)), materialize(toInt64(0)), materialize(toInt64(0)), nullIf(rank, rank), n,
      ifNull(total_ns, 0), min_ns, max_ns
    FROM gpu_stats
    WHERE kind = 'kernel' /*? AND job = :job */ /*? AND host = :host */ /*? AND rank = :rank */
      /*? AND device = :device */ /*? AND match(name, :name) */)
  GROUP BY name, recording, by_job, by_host, by_rank, by_device)
GROUP BY name, by_job, by_host, by_rank, by_device
