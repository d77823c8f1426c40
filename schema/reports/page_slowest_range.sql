-- A range that took ten times as long as is usual for its kind, and 10 ms or more, in a program without steps. Names
-- that differ in their last number are one kind. The first range of a kind is left out: programs warm up in it.
WITH r AS MATERIALIZED (
  SELECT name, rtrim(name, '0123456789') AS kind, n, min_ns, max_ns, hist
  FROM range_stats
  WHERE kind <> 'mark' AND session = coalesce(:session, session)
    AND NOT EXISTS (SELECT 1
                    FROM step_ x
                    JOIN processes p ON p.id = x.process
                    WHERE p.session = coalesce(:session, p.session))),
k AS (
  SELECT kind, sum(n) AS n, count(DISTINCT name) AS names,
         min(CAST(substr(name, length(kind) + 1) AS INTEGER)) AS first,
         fade_percentile(hist, 0.5, min_ns, max_ns) AS median_ns
  FROM r
  GROUP BY kind
  HAVING sum(n) >= 10)
SELECT r.name, k.kind, k.n, k.names, r.max_ns, k.median_ns
FROM k
JOIN r ON r.kind = k.kind
WHERE r.max_ns >= 10 * k.median_ns AND r.max_ns >= 10000000
  AND iif(k.names > 1, CAST(substr(r.name, length(k.kind) + 1) AS INTEGER) > k.first,
          r.max_ns > (SELECT x.duration
                      FROM ranges x
                      WHERE x.name = r.name AND x.session = coalesce(:session, x.session)
                      ORDER BY x.id
                      LIMIT 1))
ORDER BY r.max_ns DESC
LIMIT 1
