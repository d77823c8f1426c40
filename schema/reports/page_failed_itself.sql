-- What is known of a program that ended by itself (page_failed_status.sql, which compiles in no time).
SELECT p.exit_code,
       (SELECT max(v.verdict = 'NOT_LOADED') FROM session_verdicts v WHERE v.session = p.session) AS not_loaded,
       (SELECT coalesce(sum(t.calls), 0) FROM threads t WHERE t.session = p.session) AS calls,
       (SELECT count(*) FROM failures f WHERE f.session = p.session AND f.injected) AS injected
FROM processes p
WHERE p.id = (SELECT min(x.id) FROM processes x WHERE x.session = coalesce(:session, x.session))
