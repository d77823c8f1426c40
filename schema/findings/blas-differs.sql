-- Matrix products whose result was not what the processor computed (--check blas): the first of a function and line.
SELECT c.session, c.pid, NULL, 'blas-differs', 'error',
       c.name || coalesce(' at ' || (SELECT u.user_line FROM user_lines u WHERE u.stack = c.stack), ''),
       printf('%d of %d elements of a product of %s (%d x %d x %d) differ from what the processor computed: %s. '
              || 'Of %d products by this function and line, %d differ.%s',
              c.differing, c.elements, c.type, c.m, c.n, c.k, c.shown, c.all_checks, c.all_differing,
              coalesce(' Its matrices are in ' || c.folder || '.', '')),
       iif(c.folder IS NULL, 'fade-query blas-checks shows all of them.',
           'fade-check-blas replay ' || c.folder || ' computes it again; fade-query blas-checks shows all of them.')
FROM (
  SELECT x.*, row_number() OVER (PARTITION BY x.process_id, x.name, x.stack ORDER BY x.outcome <> 'differs', x.id)
           AS place,
         count(*) OVER line AS all_checks, sum(x.outcome = 'differs') OVER line AS all_differing
  FROM blas_checks x
  WINDOW line AS (PARTITION BY x.process_id, x.name, x.stack)) c
WHERE c.place = 1 AND c.outcome = 'differs'
