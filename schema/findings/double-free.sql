-- Memory that was freed again, which the runtime refused.
SELECT session, pid, NULL, 'double-free', 'error', name || coalesce(' at ' || coalesce(user_line, caller), ''),
       printf('%s was called for %s, which was freed already%s%s; HIP refused it%s.', name, addr_hex,
              iif(first_free IS NULL, '', printf(' by %s at %.3f s', first_free, first_free_at / 1e9)),
              iif(size IS NULL, '', ' (it had ' || size_text || ')'),
              iif(repeats > 1, printf(' (%d times from that place)', repeats), '')),
       'Two parts of the program both believe they own this memory. If the address had been reused in between, the '
       || 'second free would have freed the new allocation without an error. Find the second free with fade-query '
       || 'calls --name Free; fade-run --stacks all also records the stack of the first one.'
FROM (
  SELECT b.*,
         (SELECT u.user_line
          FROM stack_calls k
          JOIN user_lines u ON u.stack = k.stack
          WHERE k.call_id = b.call_id) AS user_line,
         iif(size < 1 << 10, size || ' B', (SELECT printf('%.*f %s', iif(v < 9.995, 2, iif(v < 99.95, 1, 0)), v, u)
          FROM (
            SELECT CASE
                     WHEN size < 1 << 20 THEN size / 1024.0
                     WHEN size < 1 << 30 THEN size / 1048576.0
                     ELSE size / 1073741824.0 END AS v,
                   CASE
                     WHEN size < 1 << 20 THEN 'KiB'
                     WHEN size < 1 << 30 THEN 'MiB'
                     ELSE 'GiB' END AS u))) AS size_text
  FROM bad_frees b)
WHERE fault = 'freed already'
