-- What rules of --inject and --replace did: calls that failed, and other effects.
SELECT count(*) AS rules, sum(failed_calls) AS failed, sum(hits) AS hits,
       (SELECT coalesce(sum(h.n), 0)
        FROM injection_hits h
        WHERE h.session = coalesce(:session, h.session) AND h.action IN ('delay', 'delay_exit')) AS delays,
       (SELECT coalesce(sum(h.n), 0)
        FROM injection_hits h
        WHERE h.session = coalesce(:session, h.session)
              AND h.action NOT IN ('delay', 'delay_exit', 'error', 'late error', 'sticky error', 'last error')
              AND h.action NOT LIKE 'dry run: %') AS replaced,
       (SELECT coalesce(sum(h.n), 0)
        FROM injection_hits h
        WHERE h.session = coalesce(:session, h.session) AND h.action LIKE 'dry run: %') AS dry
FROM injections
WHERE session = coalesce(:session, session)
HAVING count(*) > 0
