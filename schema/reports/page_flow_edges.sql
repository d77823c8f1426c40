-- Calls between interfaces. The caller is the program where no watched call is around.
SELECT coalesce(p.api, 'program') AS caller, s.category AS callee, sum(s.calls) AS calls, sum(s.errors) AS errors,
       sum(s.total_ns) AS total_ns
FROM call_stats s
LEFT JOIN functions p ON p.id = s.parent_function_id
WHERE s.session = coalesce(:session, s.session)
GROUP BY 1, 2
ORDER BY calls DESC
