-- Kernels that are mostly shorter than what the host needs to launch one. Cost of launches: with graphs, whose one
-- launch runs many kernels. Stops of other threads may be in it as well, so all that fade cost is taken off, and
-- nothing is said if that is half of it or more.
SELECT b.session, b.pid, b.device, 'tiny-kernels', 'warning', coalesce('device ' || b.device, 'a device'),
       printf('Half of %d kernels took at most %.1f us on the GPU; the host needed at least %.1f us for each on '
              || 'average to launch them. %s', b.kernels, b.kernel_median_ns / 1e3,
              (c.total - coalesce(o.ns, 0)) / c.launches / 1e3,
              d.text),
       'The host cannot keep the GPU busy with such kernels. Fuse them (torch.compile), launch them as a graph '
       || '(hipGraph, torch.cuda.graph), or make batches larger. fade-query top --gpu shows the kernels, fade-query '
       || 'gpu how idle the GPU was.'
FROM gpu_busy b
JOIN (
  SELECT t.process, 1.0 * sum(x.total) AS total,
         (SELECT sum(u.launches) FROM process_use_ u WHERE u.process = t.process) AS launches,
         1.0 * sum(x.total) / sum(x.n - x.counted) AS call_ns, max(k.least) AS least
  FROM call_stat_ x
  JOIN thread_ t ON t.id = x.thread
  JOIN function_ f ON f.id = x.fn
  LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump'
  WHERE f.kind = 'launch' OR f.name GLOB 'hipGraphLaunch*'
  GROUP BY t.process) c ON c.process = b.process_id
LEFT JOIN (SELECT session, calls_ns + taps_ns AS ns FROM slowdowns) o ON o.session = b.session
LEFT JOIN gpu_doubts d ON d.process_id = b.process_id
WHERE b.kernels >= 1000 AND b.kernel_median_ns < (c.total - coalesce(o.ns, 0)) / c.launches
  AND c.total > 2 * coalesce(o.ns, 0) AND c.call_ns > coalesce(c.least, 0)
