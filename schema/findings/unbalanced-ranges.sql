-- Ranges (roctx, NVTX) are closed that were not open, or open ones never closed: figures of ranges and steps may be
-- wrong.
SELECT session, pid, NULL, 'unbalanced-ranges', 'info', 'ranges',
       printf('%d range%s closed that %s not open: %s.', sum(n), iif(sum(n) = 1, ' was', 's were'),
              iif(sum(n) = 1, 'was', 'were'), group_concat(kind, ', ')),
       'Each push needs one pop, in the same thread. Where an exception may leave the code between them, use '
       || 'torch.cuda.nvtx.range(...) as a context manager.'
FROM range_faults
WHERE kind IN ('pop without push', 'stop without start', 'id used twice')
GROUP BY session, pid
