-- Rules, and the answers that they changed.

CREATE VIEW overrides AS
SELECT o.id, o.session, o.spec, o.target, o.value, o.origin, coalesce(h.hits, 0) AS hits, h.first, h.last
FROM override_ o
LEFT JOIN (SELECT rule, sum(n) AS hits, min(ts) AS first, max(ts_last) AS last FROM override_hit_ GROUP BY rule) h
  ON h.rule = o.id;

CREATE VIEW override_hits AS
SELECT h.id, o.session, o.id AS rule_id, o.spec, p.pid, t.tid, h.device, h.target, h.was, h.became, h.n, h.ts AS first,
       h.ts_last AS last, h.call AS call_id, h.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library
FROM override_hit_ h
JOIN override_ o ON o.id = h.rule
LEFT JOIN thread_ t ON t.id = h.thread
LEFT JOIN process_ p ON p.id = t.process
LEFT JOIN call_site_ s ON s.id = h.caller;
