-- Failed calls. The first ones of each kind stand alone; the row of later ones tells their number.
SELECT session, pid, NULL AS tid, 'errors' AS lane, 0 AS folds, 1 AS instant, 'error' AS category,
       name || ': ' || coalesce(error, code) AS name, start, start AS "end",
       tid AS thread, call_id AS call, meaning, advice,
       nullif(repeats, 1) AS repeats, iif(repeats > 1, last - start, NULL) AS until_ns_later, caller
FROM failures
WHERE NOT normal
