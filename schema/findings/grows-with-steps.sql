-- Memory that is allocated step after step and never freed.
SELECT session, pid, device, 'grows-with-steps', 'warning', name || coalesce(' at ' || user_line, ''),
       printf('%d allocations in %d of %d %ss were never freed: %s, about %s a %s.', n, turns_with, turns, turn,
              iif(size_bytes < 1 << 30, printf('%.1f MiB', size_bytes / 1048576.0), printf('%.1f GiB', size_bytes / 1073741824.0)),
              iif(bytes_per_turn < 1048576, printf('%.1f KiB', bytes_per_turn / 1024.0), printf('%.1f MiB', bytes_per_turn / 1048576.0)), turn),
       'Something keeps a reference to it: a list of losses or outputs that still have their graph, a cache without a limit. fade-query leaks shows the stack.'
FROM (SELECT g.*, (SELECT u.user_line FROM user_lines u WHERE u.stack = g.stack) AS user_line FROM memory_growth g)
