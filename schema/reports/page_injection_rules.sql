-- The effects of each of the first rules of --inject and --replace.
SELECT i.id, i.spec, h.action, h.became, sum(h.n) AS n
FROM (SELECT id, spec FROM injections WHERE session = coalesce(:session, session) ORDER BY id LIMIT 20) i
LEFT JOIN injection_hits h ON h.rule_id = i.id
GROUP BY i.id, h.action, h.became
ORDER BY i.id, n DESC, h.action
