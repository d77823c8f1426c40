-- Allocations that failed for want of memory, and who had it.
SELECT session, pid, device, 'out-of-memory', 'error', name || coalesce(' at ' || coalesce(user_line, caller), ''),
       printf('%s asked for %s at %.3f s and got hipErrorOutOfMemory%s. The process itself held %s%s', name, asked_text,
              start / 1e9, iif(n > 1, printf(', as did %d later calls', n - 1), ''), coalesce(bound || ' ', ''),
              used_text)
       || iif(free IS NULL, '',
              '; HIP said ' || free_text || ' of ' || total_text || ' were free'
              || iif(elsewhere * 20 > total,
                     ', so ' || elsewhere_text || ' are in use besides: ' || others, '')
              || iif(free >= asked, '. As much was free, but not in one piece, or the program has a limit of its own',
                     '')) || '.',
       'fade-query oom shows who held the memory at that moment; fade-query memory --peak what was allocated at the '
       || 'peak.'
FROM (
  SELECT *, count(*) OVER (PARTITION BY session, pid, device, memory) AS n,
         row_number() OVER (PARTITION BY session, pid, device, memory ORDER BY id) AS place,
         (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
          FROM (
            SELECT CASE
                     WHEN asked < 1 << 20 THEN asked / 1024.0
                     WHEN asked < 1 << 30 THEN asked / 1048576.0
                     ELSE asked / 1073741824.0 END AS v,
                   CASE
                     WHEN asked < 1 << 20 THEN 'KiB'
                     WHEN asked < 1 << 30 THEN 'MiB'
                     ELSE 'GiB' END AS u)) AS asked_text,
         (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
          FROM (
            SELECT CASE
                     WHEN used < 1 << 20 THEN used / 1024.0
                     WHEN used < 1 << 30 THEN used / 1048576.0
                     ELSE used / 1073741824.0 END AS v,
                   CASE
                     WHEN used < 1 << 20 THEN 'KiB'
                     WHEN used < 1 << 30 THEN 'MiB'
                     ELSE 'GiB' END AS u)) AS used_text,
         (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
          FROM (
            SELECT CASE
                     WHEN free < 1 << 20 THEN free / 1024.0
                     WHEN free < 1 << 30 THEN free / 1048576.0
                     ELSE free / 1073741824.0 END AS v,
                   CASE
                     WHEN free < 1 << 20 THEN 'KiB'
                     WHEN free < 1 << 30 THEN 'MiB'
                     ELSE 'GiB' END AS u)) AS free_text,
         (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
          FROM (
            SELECT CASE
                     WHEN total < 1 << 20 THEN total / 1024.0
                     WHEN total < 1 << 30 THEN total / 1048576.0
                     ELSE total / 1073741824.0 END AS v,
                   CASE
                     WHEN total < 1 << 20 THEN 'KiB'
                     WHEN total < 1 << 30 THEN 'MiB'
                     ELSE 'GiB' END AS u)) AS total_text,
         (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
          FROM (
            SELECT CASE
                     WHEN elsewhere < 1 << 20 THEN elsewhere / 1024.0
                     WHEN elsewhere < 1 << 30 THEN elsewhere / 1048576.0
                     ELSE elsewhere / 1073741824.0 END AS v,
                   CASE
                     WHEN elsewhere < 1 << 20 THEN 'KiB'
                     WHEN elsewhere < 1 << 30 THEN 'MiB'
                     ELSE 'GiB' END AS u)) AS elsewhere_text
  FROM (
    SELECT o.*,
         (SELECT u.user_line
            FROM stack_calls k
            JOIN user_lines u ON u.stack = k.stack
            WHERE k.call_id = o.call_id) AS user_line
    FROM ooms o))
WHERE place = 1
