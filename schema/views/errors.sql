-- Failed calls.

CREATE VIEW errors AS
SELECT e.id, p.session, e.ts AS start, p.pid, t.tid, f.name, e.code, e.name AS error, e.n AS repeats, e.ts_last AS last,
       e.call AS call_id, e.args, f.api AS category, e.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, k.stack
FROM error_ e
JOIN thread_ t ON t.id = e.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = e.fn
LEFT JOIN call_site_ s ON s.id = e.caller
LEFT JOIN call_stack_ k ON k.call = e.call;

-- Failed calls, with the meaning of their result. normal: an answer and not a failure.
CREATE VIEW failures AS
SELECT e.id, p.session, e.ts AS start, p.id AS process_id, p.pid, t.id AS thread_id, t.tid, f.name, f.kind, e.code,
       e.name AS error, e.n AS repeats, e.ts_last AS last, e.call AS call_id, e.args, e.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, coalesce(r.class, 'other') AS class, coalesce(r.class = 'normal', 0) AS normal,
       CASE
         WHEN i.error IS NULL THEN r.meaning
         WHEN i.replaced
           THEN 'fade had replaced an argument of this call (--replace)' || coalesce('; ' || r.meaning, '')
         ELSE 'fade failed it on request (--inject)' END AS meaning,
       iif(i.error IS NULL, r.advice, 'This is no fault of the GPU: fade-query injections shows the rule.') AS advice,
       k.stack, coalesce(NOT i.replaced, 0) AS injected, coalesce(i.replaced, 0) AS replaced
FROM error_ e
JOIN thread_ t ON t.id = e.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = e.fn
LEFT JOIN call_site_ s ON s.id = e.caller
LEFT JOIN call_stack_ k ON k.call = e.call
LEFT JOIN injected_error_ i ON i.error = e.id
LEFT JOIN result_rule_ r
  ON r.code = e.code
    AND r.function = (SELECT q.function
                      FROM result_rule_ q
                      WHERE q.code = e.code AND f.name GLOB q.function
                      ORDER BY length(q.function) DESC
                      LIMIT 1);

CREATE VIEW result_rules AS
SELECT function, code, class, meaning, advice
FROM result_rule_;
