-- Answers that rules changed. Equal ones have one row, at the first.
SELECT session, pid, NULL AS tid, 'overridden answers' AS lane, 0 AS folds, 1 AS instant, 'override' AS category,
       target || ': ' || coalesce(was, '?') || ' -> ' || coalesce(became, '?') AS name, first AS start, first AS "end",
       tid AS thread, call_id AS call, spec AS rule, was, became, nullif(n, 1) AS times,
       iif(n > 1, last - first, NULL) AS until_ns_later, caller
FROM override_hits
