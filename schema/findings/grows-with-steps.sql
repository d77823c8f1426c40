-- Memory that is allocated step after step and never freed.
SELECT session, pid, device, 'grows-with-steps', 'warning', name || coalesce(' at ' || user_line, ''),
       printf('%d allocations in %d of %d %ss were never freed: %s, about %s a %s.', n, turns_with, turns, turn,
              (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
               FROM (
                 SELECT CASE
                          WHEN size_bytes < 1 << 20 THEN size_bytes / 1024.0
                          WHEN size_bytes < 1 << 30 THEN size_bytes / 1048576.0
                          ELSE size_bytes / 1073741824.0 END AS v,
                        CASE
                          WHEN size_bytes < 1 << 20 THEN 'KiB'
                          WHEN size_bytes < 1 << 30 THEN 'MiB'
                          ELSE 'GiB' END AS u)),
              (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
               FROM (
                 SELECT CASE
                          WHEN bytes_per_turn < 1 << 20 THEN bytes_per_turn / 1024.0
                          WHEN bytes_per_turn < 1 << 30 THEN bytes_per_turn / 1048576.0
                          ELSE bytes_per_turn / 1073741824.0 END AS v,
                        CASE
                          WHEN bytes_per_turn < 1 << 20 THEN 'KiB'
                          WHEN bytes_per_turn < 1 << 30 THEN 'MiB'
                          ELSE 'GiB' END AS u)),
              turn),
       'Something keeps a reference to it: a list of losses or outputs that still have their graph, a cache without a '
       || 'limit. fade-query leaks shows the stack.'
FROM (SELECT g.*, (SELECT u.user_line FROM user_lines u WHERE u.stack = g.stack) AS user_line FROM memory_growth g)
