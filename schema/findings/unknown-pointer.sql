-- Frees of what HIP does not know.
SELECT session, pid, NULL, 'unknown-pointer', 'warning', name || coalesce(' at ' || coalesce(user_line, caller), ''),
       printf('%s was called for %s, which %s; HIP refused it%s.', name, addr_hex,
              iif(fault = 'inside an allocation', 'is inside an allocation and not its beginning',
                  'no call that fade saw had allocated'),
              iif(repeats > 1, printf(' (%d times from that place)', repeats), '')),
       iif(fault = 'inside an allocation',
           'Free the address that was allocated, not one within it: the memory is still in use.',
           'The usual causes: memory of malloc() or new, of another device library, or a pointer that was never set.'
           || iif(EXISTS (SELECT 1
                          FROM narrowings w
                          WHERE w.session = b.session AND w.pid = b.pid
                            AND w.word IN ('attach', 'delay', 'window')),
                  ' Or it was allocated before fade recorded, and this is its second free.', ''))
FROM (
  SELECT b.*,
         (SELECT u.user_line
          FROM stack_calls k
          JOIN user_lines u ON u.stack = k.stack
          WHERE k.call_id = b.call_id) AS user_line
  FROM bad_frees b) b
WHERE fault IN ('never allocated', 'inside an allocation')
