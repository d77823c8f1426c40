-- The user's actions (--actions).

CREATE VIEW action_rules AS
SELECT a.session, a.rule, a.spec, a.origin, coalesce(d.n - d.failed, 0) AS done, d.first, d.last,
       coalesce(d.failed, 0) AS failed
FROM action_ a
LEFT JOIN (
  SELECT session, rule, count(*) AS n, sum(failed) AS failed, min(ts) AS first, max(ts) AS last
  FROM action_done_
  WHERE action <> 'limit'
  GROUP BY session, rule) d ON d.session = a.session AND d.rule = a.rule;

CREATE VIEW actions AS
SELECT d.id, d.session, d.rule, a.spec, a.origin, d.ts AS at, d.action, d.detail, p.pid, t.tid, f.name,
       d.call AS call_id, d.caller AS caller_id, d.stack, s.idx AS step, d.step AS step_id, d.failed
FROM action_done_ d
LEFT JOIN action_ a ON a.session = d.session AND a.rule = d.rule
LEFT JOIN thread_ t ON t.id = d.thread
LEFT JOIN process_ p ON p.id = t.process
LEFT JOIN call_ c ON c.id = d.call
LEFT JOIN function_ f ON f.id = c.fn
LEFT JOIN step_ s ON s.id = d.step;
