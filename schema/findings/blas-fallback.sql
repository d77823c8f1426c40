-- hipBLASLt or cuBLASLt had no algorithm, and the thread computed the same product with another library next. The text
-- is a scalar query, which SQLite computes only where one of the two was asked. It reads each product, so it is left
-- out after many products.
SELECT session, NULL, NULL, 'blas-fallback', 'info', subject, text,
       'hipBLASLt has kernels for some GPUs, types and sizes only. The kernel of the other library may be slower, and '
       || 'the question costs time at each call. fade-query fallbacks lists all sizes. Try a newer hipBLASLt; PyTorch '
       || 'asks less with TORCH_BLAS_PREFER_HIPBLASLT=0.'
FROM (
  WITH asked AS MATERIALIZED (  -- so that the scalar query is compiled once
    SELECT f.session, f.subject,
           (SELECT printf('%s had no algorithm for %d product%s, and the thread computed the same sizes next with '
                          || '%s: %s',
                          f.subject, count(*), iif(count(*) = 1, '', 's'),
                          replace(group_concat(DISTINCT b.used), ',', ' and '),
                          substr(group_concat(DISTINCT b.m || ' x ' || b.n || ' x ' || b.k), 1, 100))
            FROM matrix_fallbacks b
            WHERE b.session = f.session AND b.used IS NOT NULL
            GROUP BY b.session) AS text
    FROM (SELECT session, iif(max(name) GLOB 'hip*', 'hipBLASLt', 'cuBLASLt') AS subject
          FROM library_functions
          WHERE name GLOB '*blasLtMatmul*'
          GROUP BY session
          HAVING (SELECT sum(s.n)
                  FROM call_stat_ s
                  WHERE s.fn IN (SELECT function_id FROM matrix_functions)) <= 50000) f
    GROUP BY f.session)
  SELECT * FROM asked WHERE text IS NOT NULL)
