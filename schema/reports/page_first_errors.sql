-- The first error of each process, and what followed.
SELECT name, error, code, start, command, pid, tid, meaning, args, caller, inside,
       next_name || coalesce(' (' || next_result || ')', '') AS next_call, asked_name, asked_result, asking_is_watched,
       calls_after, failures_after, same_after, sticky, advice,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = k.stack) AS user_line, t.frames
FROM first_errors e
LEFT JOIN stack_calls k ON k.call_id = e.call_id
LEFT JOIN stack_tops t ON t.stack = k.stack
WHERE session = coalesce(:session, session)
ORDER BY start
LIMIT 20
