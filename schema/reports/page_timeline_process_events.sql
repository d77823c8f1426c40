-- The life of processes: programs started, attaching and leaving, deaths and hangs.
SELECT session, pid, NULL AS tid, 'process' AS lane, 0 AS folds, 1 AS instant, 'process' AS category,
       kind || coalesce(': ' || detail, '') AS name, start, start AS "end", tid AS thread, nullif(value, 0) AS value
FROM lifecycle
WHERE kind NOT GLOB 'stacks *'
UNION ALL
SELECT session, pid, NULL, 'process', 0, 1, 'postmortem',
       kind || coalesce(': ' || signal_name, ': exit status ' || exit_code, ''), start, start, tid, signal
FROM postmortems
