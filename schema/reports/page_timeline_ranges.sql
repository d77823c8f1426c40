-- Ranges and marks of the program, on lanes of their threads. Nested ranges fold into the thread in Kineto's form.
SELECT session, pid, tid, iif(kind = 'start-stop', 'start-stop ranges', 'ranges') AS lane, kind = 'range' AS folds,
       kind = 'mark' AS instant, 'range' AS category, name, start, "end", nullif(ended_by, 'program') AS ended_by,
       nullif(end_tid, tid) AS end_tid
FROM ranges
