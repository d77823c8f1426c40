-- The view calls, read fast: 10 million rows are sent in seconds. A test compares both. Ids of calls are in order of
-- their begins, those of a session follow those of the session before. A column of the rows that lookups have as well
-- is NULL where one of them says so. outcome: what is known of the end of a call.
-- section: ids
SELECT (SELECT coalesce(max(x.last_call), 0) + 1 FROM session_ x WHERE x.id < :session),
       iif(:session = (SELECT max(id) FROM session_), (SELECT max(id) FROM call_),
           (SELECT last_call FROM session_ WHERE id = :session))
-- section: rows
SELECT c.id, c.ts AS start, c.dur AS duration, c.id - c.up AS parent_id, coalesce(c.result, 0) AS result,
       CASE
         WHEN c.dur IS NULL
           THEN coalesce((SELECT iif(u.ts_end IS NULL, -3, iif(u.ts_end = -1, -4, -5))
                          FROM unwound_ u
                          WHERE u.call = c.id), -2)
         WHEN c.result IS NULL THEN 0
         ELSE coalesce((SELECT r.fn << 32 | (r.code & 0xffffffff)
                        FROM result_name_ r
                        WHERE r.fn = c.fn AND r.code = c.result), -1) END AS outcome,
       c.caller AS caller_id, c.thread AS thread_id, c.fn AS function_id, c.launch AS launch_id
FROM call_ c
WHERE c.id >= :from AND c.id < :to
-- section: lookup outcome
SELECT column1, column2 AS state, column3 AS result, column4 AS failed, NULL AS result_name
FROM (VALUES (0, 'returned', 1, 0), (-1, 'returned', 1, 0), (-2, 'open', NULL, NULL), (-3, 'unseen', NULL, NULL),
             (-4, 'entry only', NULL, NULL), (-5, 'unwound', NULL, NULL))
UNION ALL
SELECT fn << 32 | (code & 0xffffffff), 'returned', 1, failed, name
FROM result_name_
-- section: lookup thread_id
SELECT t.id, p.pid, t.tid
FROM thread_ t
JOIN process_ p ON p.id = t.process
-- section: lookup function_id
SELECT id, api AS category, name, iif(result_type = 'void', NULL, 1) AS result  -- NULL: the rows have none
FROM function_
-- section: lookup caller_id
SELECT id,
       coalesce(symbol, library || '+' || iif(offset IS NULL, NULL, printf('0x%x', offset)),
                iif(address IS NULL, NULL, printf('0x%x', address))) AS caller,
       library AS caller_library
FROM call_site_
