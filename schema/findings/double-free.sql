-- Memory that was freed again, which the runtime refused.
SELECT session, pid, NULL, 'double-free', 'error', name || coalesce(' at ' || caller, ''),
       printf('%s was called for %s, which was freed already%s%s; HIP refused it%s.', name, addr_hex,
              iif(first_free IS NULL, '', printf(' by %s at %.3f s', first_free, first_free_at / 1e9)),
              iif(size IS NULL, '', printf(' (it had %d bytes)', size)),
              iif(repeats > 1, printf(' (%d times from that place)', repeats), '')),
       'Two parts of the program both believe they own this memory. If the address had been reused in between, the '
       || 'second free would have freed the new allocation without an error. Find the second free with fade-query '
       || 'calls --name Free; fade-run --stacks all also records the stack of the first one.'
FROM bad_frees
WHERE fault = 'freed already'
