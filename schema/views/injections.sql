-- Rules that fail, delay and change calls, and their effects.

CREATE VIEW injections AS
SELECT i.id, i.session, i.spec, i.function, i.action, i.origin, i.seed, coalesce(h.hits, 0) AS hits,
       coalesce(h.failed, 0) AS failed_calls, h.first, h.last
FROM injection_ i
LEFT JOIN (
  SELECT rule, sum(n) AS hits, sum(iif(action IN ('error', 'late error', 'sticky error'), n, 0)) AS failed,
         min(ts) AS first, max(ts_last) AS last
  FROM injection_hit_
  GROUP BY rule) h ON h.rule = i.id;

CREATE VIEW injection_hits AS
SELECT h.id, i.session, i.id AS rule_id, i.spec, p.pid, t.tid, f.name, h.action, h.was, h.became, h.n, h.ts AS first,
       h.ts_last AS last, h.call AS call_id, h.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library
FROM injection_hit_ h
JOIN injection_ i ON i.id = h.rule
LEFT JOIN thread_ t ON t.id = h.thread
LEFT JOIN process_ p ON p.id = t.process
LEFT JOIN function_ f ON f.id = h.fn
LEFT JOIN call_site_ s ON s.id = h.caller;
