-- Allocations that failed for want of memory, and who had it.
SELECT session, pid, device, 'out-of-memory', 'error', name || coalesce(' at ' || caller, ''),
       printf('%s asked for %s at %.3f s and got hipErrorOutOfMemory%s. The process itself held %s', name, asked_text, start / 1e9, iif(n > 1, printf(', as did %d later calls', n - 1), ''), used_text) ||
       iif(free IS NULL, '', '; HIP said ' || free_text || ' of ' || total_text || ' were free' || iif(elsewhere * 20 > total, ', so ' || elsewhere_text || ' are held elsewhere: by other processes, pools or the runtime', '')
                || iif(free >= asked, '. As much was free, but not in one piece, or the program has a limit of its own', '')) || '.',
       'fade-query oom shows who held the memory at that moment; fade-query memory --peak what was allocated at the peak.'
FROM (SELECT *, count(*) OVER (PARTITION BY session, pid, device, memory) AS n, row_number() OVER (PARTITION BY session, pid, device, memory ORDER BY id) AS place,
             iif(asked < 1 << 30, printf('%.1f MiB', asked / 1048576.0), printf('%.1f GiB', asked / 1073741824.0)) AS asked_text,
             iif(used < 1 << 30, printf('%.1f MiB', used / 1048576.0), printf('%.1f GiB', used / 1073741824.0)) AS used_text,
             iif(free < 1 << 30, printf('%.1f MiB', free / 1048576.0), printf('%.1f GiB', free / 1073741824.0)) AS free_text,
             printf('%.1f GiB', total / 1073741824.0) AS total_text,
             iif(elsewhere < 1 << 30, printf('%.1f MiB', elsewhere / 1048576.0), printf('%.1f GiB', elsewhere / 1073741824.0)) AS elsewhere_text
      FROM ooms) WHERE place = 1
