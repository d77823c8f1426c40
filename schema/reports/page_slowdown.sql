-- The cost of fade for the programs of the newest session.
SELECT calls, tapped, taps_ns, threads,
       (SELECT count(*) FROM threads t WHERE t.session = slowdowns.session AND t.calls > 0) AS callers,
       calls_ns, other_ns, busiest_ns, life_ns, measured
FROM slowdowns
WHERE session = coalesce(:session, session)
ORDER BY session DESC
LIMIT 1
