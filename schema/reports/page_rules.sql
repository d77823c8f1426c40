-- The changes that each of the first rules made, and their numbers.
SELECT o.id, o.spec, h.was, h.became, sum(h.n) AS n
FROM (SELECT id, spec FROM overrides WHERE session = coalesce(:session, session) ORDER BY id LIMIT 20) o
LEFT JOIN override_hits h ON h.rule_id = o.id
GROUP BY o.id, h.was, h.became
ORDER BY o.id, n DESC, h.was
