-- Copies and fills at the moment when the host asked for them, on their streams. Not when the GPU did the work.
SELECT session, pid, NULL AS tid, coalesce('stream ' || stream_id, 'stream unknown') || ' (asked for)' AS lane,
       0 AS folds,
       1 AS instant, 'asked for' AS category, iif(direction = 'set', 'fill', 'copy ' || direction) AS name, start,
       start AS "end", size AS bytes, memory, id AS call
FROM copies
