-- One row if no process allocated memory. not_loaded: no process had a HIP library either.
SELECT (SELECT count(*) FROM session_verdicts v
        WHERE v.session = coalesce(:session, v.session) AND v.verdict <> 'NOT_LOADED') = 0 AS not_loaded
WHERE NOT EXISTS (
  SELECT 1 FROM memory_totals m
  WHERE m.session = coalesce(:session, m.session) AND m.allocs > 0)
