-- All calls and their time. Failures have rows of their own, which are ahead of the sums while a recording goes on.
SELECT sum(calls) AS calls, sum(self_ns) AS ns,
       (SELECT coalesce(sum(x.repeats), 0)
        FROM failures x
        WHERE x.session = coalesce(:session, x.session) AND NOT x.normal) AS errors
FROM top
WHERE session = coalesce(:session, session)
