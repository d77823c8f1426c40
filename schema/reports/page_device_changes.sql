-- The answers about devices that fade changed, and for which callers.
SELECT h.target, h.was, h.became, sum(h.n) AS n, coalesce(h.caller_library, h.caller) AS caller
FROM override_hits h
JOIN devices d ON d.session = h.session AND d.pid = h.pid AND d.ordinal = h.device
WHERE instr(',' || :devices || ',', ',' || d.id || ',') > 0
GROUP BY 1, 2, 3, 5
ORDER BY 1, 5
LIMIT 20
