-- Allocations that failed for want of memory, and who had it.
SELECT session, pid, device, 'out-of-memory', 'error', name || coalesce(' at ' || min(caller), ''),
       printf('%s asked for %.1f MiB at %.3f s and got hipErrorOutOfMemory%s. The process itself held %.1f MiB', name, asked / 1048576.0, start / 1e9,
              iif(count(*) > 1, printf(', as did %d later ones', count(*) - 1), ''), used / 1048576.0) ||
       coalesce(printf('; HIP said %.1f of %.1f MiB were free', free / 1048576.0, total / 1048576.0) || iif(elsewhere * 20 > total, printf(', so %.1f MiB are held elsewhere: by other processes, pools or the runtime', elsewhere / 1048576.0), '')
                || iif(free >= asked, '. As much was free, but not in one piece, or the program has a limit of its own', ''), '') || '.',
       'fade-query oom shows who held the memory at that moment; fade-query memory --peak what was allocated at the peak.'
FROM (SELECT * FROM ooms ORDER BY id) GROUP BY session, pid, device, memory HAVING min(id) = id
