-- MIOpen's reference kernels for convolutions, by their names. A launch may be a trial: nothing is accused.
SELECT session, NULL, NULL, 'miopen-naive', 'info', 'MIOpen',
       printf('MIOpen''s naive convolution kernels were launched %d time%s (%s), the last time at %.1f s.', sum(n),
              iif(sum(n) = 1, '', 's'), group_concat(printf('%s: %d', name, n), ', '), max(last) / 1e9),
       'They compute convolutions in the simplest way, far slower than MIOpen''s others. MIOpen also tries them when '
       || 'it looks for the fastest kernel of a new shape, so a few launches at the beginning mean nothing. If they go '
       || 'on (fade-query kernels --name naive_conv), no other kernel fits this shape, data type and GPU: check '
       || 'MIOPEN_DEBUG_ and MIOPEN_FIND_MODE variables that exclude kernels, try another layout or type, or a newer '
       || 'MIOpen.'
FROM (
  SELECT session, name, sum(launches) AS n, max(last) AS last
  FROM kernel_stats
  WHERE name GLOB 'naive_conv_*'
  GROUP BY session, name
  ORDER BY n DESC, name)
GROUP BY session
