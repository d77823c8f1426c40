-- Kernels that are mostly shorter than what the host needs to launch one. Cost of launches: without fade's own, and with
-- graphs, whose one launch runs many kernels.
SELECT b.session, b.pid, b.device, 'tiny-kernels', 'warning', coalesce('device ' || b.device, 'a device'),
       printf('Half of %d kernels took at most %.1f us on the GPU; the host needed %.1f us for each on average to launch '
              || 'them. %s', b.kernels, b.kernel_median_ns / 1e3, c.ns / 1e3, d.text),
       'The host cannot keep the GPU busy with such kernels. Fuse them (torch.compile), launch them as a graph (hipGraph, '
       || 'torch.cuda.graph), or make batches larger. fade-query top --gpu shows the kernels, fade-query gpu how idle the '
       || 'GPU was.'
FROM gpu_busy b
JOIN (
  SELECT t.process, 1.0 * sum(x.total) / (SELECT sum(u.launches) FROM process_use_ u WHERE u.process = t.process) AS ns,
         1.0 * sum(x.total) / sum(x.n - x.counted) AS call_ns, max(k.least) AS least
  FROM call_stat_ x
  JOIN thread_ t ON t.id = x.thread
  JOIN function_ f ON f.id = x.fn
  LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump'
  WHERE f.kind = 'launch' OR f.name GLOB 'hipGraphLaunch*'
  GROUP BY t.process) c ON c.process = b.process_id
LEFT JOIN gpu_doubts d ON d.process_id = b.process_id
WHERE b.kernels >= 1000 AND b.kernel_median_ns < c.ns AND c.call_ns > coalesce(c.least, 0)
