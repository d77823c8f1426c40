-- The ids of the calls of a session: they ascend over the sessions of a recording.
SELECT coalesce((SELECT max(b.last_call) FROM session_ b WHERE b.id < s.id), 0) + 1 AS first,
       iif(s.id = (SELECT max(id) FROM session_), coalesce((SELECT max(id) FROM call_), 0), s.last_call) AS last
FROM session_ s
WHERE s.id = coalesce(:session, s.id)
ORDER BY s.id DESC
LIMIT 1
