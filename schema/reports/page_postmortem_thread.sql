-- The thread that a postmortem is about.
SELECT tid, name, doing, place, call, age_ns, args, caller, earlier, last_call, last_call_end, start,
       (SELECT u.user_line FROM user_lines u WHERE u.stack = t.stack) AS user_line
FROM postmortem_threads t
WHERE postmortem_id = :postmortem
ORDER BY cause DESC, call IS NULL, earlier IS NULL, age_ns DESC
LIMIT 1
