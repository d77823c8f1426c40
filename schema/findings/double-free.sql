-- Memory that was freed again, which the runtime refused.
SELECT session, pid, NULL, 'double-free', 'error', name || coalesce(' at ' || caller, ''),
       printf('%s was called for %s, which was freed already%s%s; HIP refused it%s.', name, addr_hex, iif(first_free IS NULL, '', printf(' by %s at %.3f s', first_free, first_free_at / 1e9)),
              iif(size IS NULL, '', printf(' (it had %d bytes)', size)), iif(repeats > 1, printf(' (%d times from that place)', repeats), '')),
       'Two parts of the program believe to own this memory. Had the address been given out again in between, the free would have taken it from its new owner, without an error: find out who frees twice (fade-query calls --name Free; fade-run --stacks all also keeps from where memory is freed the first time).'
FROM bad_frees WHERE fault = 'freed already'
