-- The view calls, read fast: 10 million rows are sent in seconds. A test compares both. Ids of calls are in order of
-- their begins, those of a session follow those of the session before. A column of the rows that a lookup has as well
-- is NULL where the lookup says so.
-- section: ids
SELECT (SELECT coalesce(max(x.last_call), 0) + 1 FROM session_ x WHERE x.id < :session),
       iif(:session = (SELECT max(id) FROM session_), (SELECT max(id) FROM call_),
           (SELECT last_call FROM session_ WHERE id = :session))
-- section: rows
SELECT c.id, c.ts AS start, c.dur AS duration, c.id - c.up AS parent_id,
       iif(c.dur IS NULL, NULL, coalesce(c.result, 0)) AS result,
       iif(c.dur IS NULL OR c.result IS NULL, NULL,
           (SELECT r.name FROM result_name_ r WHERE r.fn = c.fn AND r.code = c.result)) AS result_name,
       iif(c.dur IS NULL, NULL,
           iif(c.result IS NULL, 0,
               coalesce((SELECT r.failed FROM result_name_ r WHERE r.fn = c.fn AND r.code = c.result), 0))) AS failed,
       iif(c.dur IS NOT NULL, 'returned',
           coalesce((SELECT iif(u.ts_end IS NULL, 'unseen', iif(u.ts_end = -1, 'entry only', 'unwound'))
                     FROM unwound_ u
                     WHERE u.call = c.id), 'open')) AS state,
       c.caller AS caller_id, c.thread AS thread_id, c.fn AS function_id, c.launch AS launch_id
FROM call_ c
WHERE c.id >= :from AND c.id < :to
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
