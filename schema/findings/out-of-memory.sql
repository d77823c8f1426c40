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
  SELECT o.*, max(iif(what = 0, amount, '')) AS asked_text, max(iif(what = 1, amount, '')) AS used_text,
         max(iif(what = 2, amount, '')) AS free_text, max(iif(what = 3, amount, '')) AS total_text,
         max(iif(what = 4, amount, '')) AS elsewhere_text,
         (SELECT u.user_line
          FROM stack_calls k
          JOIN user_lines u ON u.stack = k.stack
          WHERE k.call_id = o.call_id) AS user_line
  FROM (
    SELECT o.*, what, printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, unit) AS amount
    FROM (
      SELECT o.*, e.key AS what,
             iif(value < 1 << 20, value / 1024.0, iif(value < 1 << 30, value / 1048576.0, value / 1073741824.0)) AS v,
             iif(value < 1 << 20, 'KiB', iif(value < 1 << 30, 'MiB', 'GiB')) AS unit
      FROM (
        SELECT *, count(*) OVER same AS n, row_number() OVER (same ORDER BY id) AS place
        FROM ooms
        WINDOW same AS (PARTITION BY session, pid, device, memory)) o,
        json_each(printf('[%d,%d,%d,%d,%d]', asked, used, free, total, elsewhere)) e
      WHERE o.place = 1) o) o
  GROUP BY o.id)
