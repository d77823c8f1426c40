-- A number that changes when sums were written: the last call that they count. Asked ten times a second.
SELECT coalesce(max(last_call), 0) AS mark
FROM session_
WHERE id = :session
