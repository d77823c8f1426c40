-- The program that was started ended with a status of its own, not one that is a signal.
SELECT p.exit_code,
       (SELECT max(v.verdict = 'NOT_LOADED') FROM session_verdicts v WHERE v.session = p.session) AS not_loaded,
       (SELECT coalesce(sum(t.calls), 0) FROM threads t WHERE t.session = p.session) AS calls,
       (SELECT count(*) FROM failures f WHERE f.session = p.session AND f.injected) AS injected
FROM processes p
WHERE p.id = (SELECT min(x.id) FROM processes x WHERE x.session = coalesce(:session, x.session))
  AND p.exit_code > 0 AND p.exit_code NOT IN (129, 130, 137, 143)
