-- What was watched, and what was not.

-- Times in which calls have rows, where the user has chosen times (--schedule, --window, --trigger). Sums are of all
-- times.
CREATE VIEW detail_times AS
WITH change AS (
  SELECT session, id, ts, value, detail, lead(ts) OVER (PARTITION BY session ORDER BY ts, id) AS until
  FROM lifecycle_
  WHERE kind = 'detail'),
-- With --trigger, rows of the last seconds are in the file also if it was not closed. first, last: ids of calls.
unclosed AS (
  SELECT c.session, c.ts,
         max(coalesce((SELECT max(y.last_call) FROM session_ y WHERE y.id < s.id), 0) + 1,
             coalesce((SELECT min(b.first_call)
                       FROM call_bucket_ b
                       JOIN function_ f ON f.id = b.fn
                       WHERE b.sec BETWEEN c.ts / 1000000000 AND c.ts / 1000000000 + 60 AND f.session = s.id),
                      0)) AS first,
         iif(s.id = (SELECT max(id) FROM session_), 9223372036854775807, s.last_call) AS last
  FROM change c
  JOIN session_ s ON s.id = c.session
  WHERE NOT s.clean AND c.value = 0 AND c.until IS NULL AND c.detail GLOB '--trigger*'),
-- Ids are in order of entries. The first rows may be those of long calls, so their first end is the begin.
tail AS (
  SELECT o.session,
         (SELECT min(x.ended)
          FROM (
            SELECT coalesce(c.ts + c.dur, (SELECT max(u.ts_end, c.ts) FROM unwound_ u WHERE u.call = c.id),
                            c.ts) AS ended
            FROM call_ c
            WHERE c.id BETWEEN o.first AND o.last AND ended >= o.ts
            ORDER BY c.id
            LIMIT 1000) x) AS start,
         (SELECT max(x.ended)
          FROM (
            SELECT ts + coalesce(dur, 0) AS ended
            FROM call_
            WHERE id BETWEEN o.first AND o.last
            ORDER BY id DESC
            LIMIT 1000) x) AS "end"
  FROM unclosed o)
SELECT c.session, c.ts AS start, coalesce(c.until, s.end_ns - s.start_ns) AS "end", c.detail AS why
FROM change c
JOIN session_ s ON s.id = c.session
WHERE c.value = 1 AND (c.until IS NULL OR c.until > c.ts)
UNION ALL
SELECT session, start, "end", 'the recording was not closed'
FROM tail
WHERE start IS NOT NULL;

-- Each limit on the known facts about a process, or (process_id NULL) about the session's processes without a row.
-- Filters on functions are not included: they are the same for all processes (selection_). rank: the amount of loss: 3
-- all, 2 calls or their results, 1 rows (counts are kept).
CREATE VIEW narrowings AS
WITH RECURSIVE mark AS MATERIALIZED (
  SELECT *
  FROM lifecycle_
  WHERE kind IN ('exec', 'attach', 'recording started', 'recording stopped', 'unwatched', 'vanished', 'untraced')),
ran(process, id) AS (SELECT process, max(id) FROM mark WHERE kind = 'exec' GROUP BY process),
image(process, holder) AS (
  SELECT id, id
  FROM process_
  WHERE parent IS NULL OR id IN (SELECT process FROM ran)
  UNION ALL
  SELECT c.id, i.holder
  FROM image i
  JOIN process_ c ON c.parent = i.process
  WHERE c.id NOT IN (SELECT process FROM ran)),
came(process, ts) AS (
  SELECT m.process, max(m.ts)
  FROM mark m
  LEFT JOIN ran r ON r.process = m.process
  WHERE m.kind = 'attach' AND m.id > coalesce(r.id, 0)
  GROUP BY m.process),
gap AS MATERIALIZED (
  SELECT m.session, m.ts,
         (SELECT min(n.ts)
          FROM mark n
          WHERE n.session = m.session AND n.kind = 'recording started' AND n.id > m.id) AS ts_end
  FROM mark m
  WHERE m.kind = 'recording stopped'),
life AS MATERIALIZED (
  SELECT p.id, p.session, p.pid, p.ts, p.ts_end, coalesce(s.end_ns - s.start_ns, p.ts) AS session_end, s.clean
  FROM process_ p
  JOIN session_ s ON s.id = p.session),
loss AS MATERIALIZED (
  SELECT d.session, d.ts, d.dur, d.n,
         CASE
           WHEN d.reason GLOB 'size limit*' THEN 'size limit'
           WHEN d.reason GLOB 'results of calls*' THEN 'return sites'
           ELSE 'drops' END AS word,
         CASE
           WHEN d.reason GLOB 'size limit reached: nothing more*' THEN 3
           WHEN d.reason GLOB 'size limit*' THEN 1
           ELSE 2 END AS rank,
         d.reason, d.reason GLOB 'size limit*' OR d.reason GLOB 'another process*' AS has_time
  -- else it is the time of the report
  FROM drop_ d
  WHERE d.reason NOT GLOB 'stacks were not kept*'),
summed AS MATERIALIZED (
  SELECT session, ts, lead(ts) OVER (PARTITION BY session ORDER BY ts, id) AS until, value
  FROM lifecycle_
  WHERE kind = 'detail'),
chosen AS MATERIALIZED (
  SELECT d.session, d.detail AS rule, count(t.start) AS n, coalesce(sum(t."end" - t.start), 0) AS ns
  FROM (SELECT session, detail, min(id) FROM lifecycle_ WHERE kind = 'detail' GROUP BY session) d
  LEFT JOIN detail_times t ON t.session = d.session
  GROUP BY d.session)
SELECT l.session, l.id AS process_id, l.pid, 'attach' AS word, l.ts AS start, c.ts AS "end", 2 AS rank,
       'fade came when the process was running already' AS why
FROM life l
JOIN image i ON i.process = l.id
JOIN came c ON c.process = i.holder
UNION ALL
SELECT l.session, l.id, l.pid, 'delay', l.ts, g.ts_end, 2,
       printf('what it did before %.1f s was not recorded', g.ts_end / 1e9)
FROM life l
JOIN gap g ON g.session = l.session
WHERE g.ts <= l.ts AND g.ts_end > l.ts
UNION ALL
SELECT l.session, l.id, l.pid, 'window', max(g.ts, l.ts), g.ts_end, iif(g.ts <= l.ts, 3, 2),
       iif(g.ts_end IS NULL,
           iif(g.ts <= l.ts, 'it was not recorded', printf('what it did after %.1f s was not recorded', g.ts / 1e9)),
           printf('what it did between %.1f s and %.1f s was not recorded', g.ts / 1e9, g.ts_end / 1e9))
FROM life l
JOIN gap g ON g.session = l.session
WHERE (g.ts > l.ts AND (l.ts_end IS NULL OR g.ts < l.ts_end)) OR (g.ts <= l.ts AND g.ts_end IS NULL)
UNION ALL
SELECT l.session, l.id, l.pid, 'window', l.session_end, NULL, 2,
       printf('the process ran on when fade left at %.1f s', l.session_end / 1e9)
FROM life l
WHERE l.ts_end IS NULL AND l.clean AND NOT EXISTS (SELECT 1 FROM gap g WHERE g.session = l.session AND g.ts_end IS NULL)
  -- fade does not see the end of a child that is not followed
  AND NOT EXISTS (SELECT 1
                  FROM mark m
                  WHERE m.process = l.id AND m.kind = 'unwatched' AND m.detail GLOB 'children are not followed*')
UNION ALL
SELECT l.session, l.id, l.pid, 'unclean', NULL, NULL, 2,
       'the recording was not closed: fade was killed, or is still recording'
FROM life l
WHERE l.ts_end IS NULL AND NOT l.clean
UNION ALL
SELECT p.session, m.process, p.pid,
       CASE
         WHEN m.detail GLOB '*--exe*' THEN 'exe'
         WHEN m.detail GLOB '*--only-rank*' THEN 'rank'
         WHEN m.detail GLOB 'children are not followed*' THEN 'follow'
         WHEN m.detail GLOB 'nothing is watched*' THEN 'window'
         ELSE 'unwatched' END,
       m.ts, NULL, 3,
       'it was not watched: '
       || iif(m.detail GLOB 'children are not followed*', 'children are not followed (--no-follow)', m.detail)
FROM mark m
JOIN process_ p ON p.id = m.process
LEFT JOIN ran r ON r.process = m.process
WHERE m.kind = 'unwatched' AND m.id > coalesce(r.id, 0) AND m.detail NOT GLOB 'a static program*'
  AND m.detail NOT GLOB 'a 32-bit*'
UNION ALL
SELECT p.session, m.process, p.pid, 'vanished', m.ts, NULL, 2, 'breakpoints were taken out by the program: ' || m.detail
FROM mark m
JOIN process_ p ON p.id = m.process
WHERE m.kind = 'vanished'
UNION ALL
SELECT l.session, l.id, l.pid, d.word, d.ts, d.ts + d.dur, d.rank,
       CASE d.word
         WHEN 'return sites' THEN d.n || iif(d.n = 1, ' call''s result was', ' calls'' results were') || ' not seen'
         ELSE d.n || iif(d.n = 1, ' call was', ' calls were') || ' not recorded: ' || d.reason END
FROM life l
JOIN loss d ON d.session = l.session
WHERE NOT d.has_time OR (d.ts + d.dur >= l.ts AND (l.ts_end IS NULL OR d.ts <= l.ts_end))
UNION ALL
SELECT l.session, l.id, l.pid, 'sums', l.ts, l.ts_end, 1,
       iif(c.n = 0, 'calls have no rows',
           printf('calls have rows only at %d time%s, %.1f s in all', c.n, iif(c.n = 1, '', 's'), c.ns / 1e9))
       || ' (' || c.rule || ')'
FROM life l
JOIN chosen c ON c.session = l.session
WHERE EXISTS (SELECT 1
              FROM summed x
              WHERE x.session = l.session AND x.value = 0 AND (l.ts_end IS NULL OR x.ts < l.ts_end)
                AND (x.until IS NULL OR x.until > max(x.ts, l.ts)))
UNION ALL
SELECT m.session, NULL, NULL, 'unwatched', m.ts, NULL, 3, 'process ' || m.value || ' was not watched: ' || m.detail
FROM mark m
WHERE m.kind = 'untraced' OR (m.kind = 'unwatched' AND m.process IS NULL);

-- The times in which a function was recorded with less detail, so that fade cost the program no more than the user
-- allows (--budget). every: 1: of each call only sums; N: of every Nth call alone; -1: of no call. Calls are counted
-- all the same. A function that is untapped, because it was quiet, is recorded in whole again: the value is 0 there.
CREATE VIEW budgets AS
WITH step AS (
  SELECT session, process, ts, value, detail, substr(detail, 1, instr(detail, ':') - 1) AS name,
         lead(ts) OVER (PARTITION BY process, substr(detail, 1, instr(detail, ':') - 1) ORDER BY id) AS until
  FROM lifecycle_
  WHERE kind IN ('budget', 'untapped'))
SELECT s.session, s.process AS process_id, p.pid, s.name, s.value AS every, s.ts AS start,
       coalesce(s.until, p.ts_end) AS "end", substr(s.detail, length(s.name) + 3) AS why
FROM step s
JOIN process_ p ON p.id = s.process
WHERE s.value <> 0;

-- How closely calls of each group of functions are recorded (--detail). The session has one word for all groups, or a
-- list: "calls,mem=full,sync=stats", the level of all others first. A group's own level is before that of its API.
CREATE VIEW detail_levels AS
WITH listed AS (
  SELECT s.id, x.api, x.grp, ',' || s.detail || ',' AS list, instr(',' || s.detail || ',', ',' || x.grp || '=') AS own,
         instr(',' || s.detail || ',', ',' || x.api || '=') AS of_api
  FROM session_ s
  JOIN (SELECT DISTINCT session, api, grp FROM selection_) x ON x.session = s.id),
tail AS (
  SELECT id, api, grp,
         substr(list, CASE
                        WHEN own > 0 THEN own + length(grp) + 2
                        WHEN of_api > 0 THEN of_api + length(api) + 2
                        ELSE 2 END) AS rest
  FROM listed)
SELECT id AS session, api, grp AS "group", substr(rest, 1, instr(rest, ',') - 1) AS level
FROM tail;

-- The watched part of each process, by group of functions. Rows exist if the process loaded a library with such
-- functions, or was not watched.
CREATE VIEW coverage AS
WITH lost AS MATERIALIZED (SELECT * FROM narrowings WHERE process_id IS NOT NULL),
word AS MATERIALIZED (
  SELECT process_id, group_concat(DISTINCT word) AS words, max(rank) AS rank,
         max(rank = 1) AS sums,
         max(CASE WHEN word IN ('attach', 'delay') THEN "end" END) AS since,
         min(CASE WHEN word = 'window' THEN start END) AS until
  FROM lost
  GROUP BY process_id),
chosen AS MATERIALIZED (
  SELECT session, api, grp, kind, sum(CASE WHEN why IS NULL THEN n ELSE 0 END) AS functions,
         sum(CASE WHEN why IS NOT NULL THEN n ELSE 0 END) AS left_out, group_concat(why) AS words,
         group_concat(names, ' ') AS names
  FROM selection_
  GROUP BY session, api, grp, kind),
kernel_filter AS MATERIALIZED (SELECT DISTINCT session FROM filter_ WHERE kind IN ('kernel-include', 'kernel-exclude')),
saved AS MATERIALIZED (
  SELECT DISTINCT b.process_id, f.api, f.grp, f.kind
  FROM budgets b
  JOIN function_ f ON f.session = b.session AND f.name = b.name)
SELECT p.session, p.id AS process_id, p.pid, c.api, c.grp AS "group", c.kind,
       max(p.ts, coalesce(w.since, p.ts)) AS start, coalesce(w.until, p.ts_end, s.end_ns - s.start_ns) AS "end",
       CASE
         WHEN c.functions = 0 OR w.rank = 3 THEN 'not'
         WHEN d.level = 'stats' OR w.sums OR u.process_id IS NOT NULL THEN 'statistics'
         WHEN d.level = 'full' THEN 'arguments'
         ELSE 'rows' END AS level,
       nullif(trim(coalesce(w.words, '') || ',' || coalesce(c.words, '') || ','
                   || iif(u.process_id IS NULL, '', 'budget,')
                   || iif(k.session IS NOT NULL AND c.kind IN ('launch', 'graph'), 'kernel filter', '') || ','
                   || iif(d.level = 'stats', 'detail', ''),
                   ','),
              '') AS narrowed,
       c.functions, c.left_out, c.names AS left_out_names
FROM process_ p
JOIN session_ s ON s.id = p.session
JOIN chosen c ON c.session = p.session
JOIN detail_levels d ON d.session = c.session AND d.api = c.api AND d."group" = c.grp
LEFT JOIN word w ON w.process_id = p.id
LEFT JOIN kernel_filter k ON k.session = p.session
LEFT JOIN saved u ON u.process_id = p.id AND u.api = c.api AND u.grp = c.grp AND u.kind = c.kind
WHERE w.rank = 3 OR EXISTS (SELECT 1 FROM function_ f WHERE f.session = p.session AND f.api = c.api)
  OR EXISTS (SELECT 1 FROM module_ m WHERE m.process = p.id AND m.role = c.api);

-- Answers for report sentences: is everything known of a topic, from when to when, and if not, the reason.
CREATE VIEW watched AS
WITH word AS MATERIALIZED (
  SELECT process_id, group_concat(DISTINCT word) AS words, group_concat(why, '; ') AS why, max(rank) AS rank,
         max(rank = 1) AS sums,
         max(CASE WHEN word IN ('attach', 'delay') THEN "end" END) AS since,
         min(CASE WHEN word = 'window' THEN start END) AS until
  FROM (
    SELECT process_id, word, why, max(rank) AS rank, min(start) AS start, max("end") AS "end"
    FROM narrowings
    WHERE process_id IS NOT NULL
    GROUP BY process_id, word, why)
  GROUP BY process_id),
loads AS MATERIALIZED (
  SELECT DISTINCT p.id AS process, m.role AS api
  FROM process_ p
  JOIN module_ m ON m.process = p.id OR m.process = p.parent
  WHERE m.role IN ('hip', 'cuda', 'nvml', 'roctx', 'nvtx', 'zluda')),
missing AS MATERIALIZED (
  SELECT x.session, t.topic, x.api, x.why, sum(x.n) AS n, min(x.names) AS names,
         (SELECT coalesce(sum(y.n), 0)
          FROM selection_ y
          JOIN topic_ u ON u.topic = t.topic AND u.api IN (y.api, '*') AND u.kind IN (y.kind, '*')
          WHERE y.session = x.session AND y.api = x.api AND y.why IS NULL) AS rest
  FROM selection_ x
  JOIN topic_ t ON t.api IN (x.api, '*') AND t.kind IN (x.kind, '*')
  WHERE x.why IN ('events', 'include', 'exclude')
  GROUP BY x.session, t.topic, x.api, x.why),
lack AS MATERIALIZED (
  SELECT l.process, m.topic, group_concat(DISTINCT m.why) AS words, max(m.rest = 0) AS all_left_out,
         group_concat(CASE
                        WHEN m.rest = 0 THEN 'these calls were'
                        WHEN m.n > 6 THEN m.n || ' functions were'
                        ELSE m.names || iif(m.n = 1, ' was', ' were') END || ' left out by '
                      || CASE m.why WHEN 'events' THEN '-e' ELSE '--' || m.why END,
                      '; ') AS why
  FROM missing m
  JOIN process_ p ON p.session = m.session
  JOIN loads l ON l.process = p.id AND (l.api = m.api OR (m.api = 'cuda' AND l.api = 'zluda'))
  GROUP BY l.process, m.topic),
refusal AS MATERIALIZED (
  SELECT x.process, t.topic, min(x.detail) AS detail
  FROM lifecycle_ x
  JOIN topic_ t ON x.detail GLOB t.pattern
  WHERE x.kind = 'refused' AND x.process IS NOT NULL AND x.detail NOT GLOB 'returns to *'
    AND t.topic NOT IN ('errors', 'calls', 'hip')
  GROUP BY x.process, t.topic),
kernel_filter AS MATERIALIZED (
  SELECT session, group_concat('--' || kind || '-regex ' || value, ' ') AS text
  FROM filter_
  WHERE kind IN ('kernel-include', 'kernel-exclude')
  GROUP BY session),
saved_function AS MATERIALIZED (
  SELECT process_id, name, max(every <> 1) AS is_partial,
         CASE
           WHEN min(every) = -1 THEN 'calls of ' || name || ' were only counted'
           WHEN max(every) > 1 THEN
             'of ' || name || ' only every ' || max(every) || 'th call was recorded, and all were counted'
           ELSE 'calls of ' || name || ' have no rows' END
         || printf(' from %.1f s', min(start) / 1e9)
         || iif(max("end" IS NULL), ' on', printf(' to %.1f s', max("end") / 1e9)) || ' (--budget)' AS text
  FROM budgets
  GROUP BY process_id, name),
saved AS MATERIALIZED (
  SELECT DISTINCT f.process_id, t.topic, max(f.is_partial) OVER (PARTITION BY f.process_id, t.topic) AS is_partial,
         group_concat(f.text, '; ') OVER (PARTITION BY f.process_id, t.topic) AS why
  FROM saved_function f
  JOIN (SELECT DISTINCT topic, pattern FROM topic_) t ON f.name GLOB t.pattern),
-- of lists of levels alone: s.detail tells the level of all topics otherwise
counted AS MATERIALIZED (
  SELECT x.session, t.topic, group_concat(DISTINCT iif(d.level = 'stats', x.grp, NULL)) AS groups,
         count(DISTINCT iif(d.level = 'stats', x.grp, NULL)) AS n, min(d.level = 'stats') AS is_whole,
         min(d.level = 'full') AS is_full,
         (SELECT s.detail FROM session_ s WHERE s.id = x.session) AS list
  FROM selection_ x
  JOIN detail_levels d ON d.session = x.session AND d.api = x.api AND d."group" = x.grp
  JOIN topic_ t ON t.api IN (x.api, '*') AND t.kind IN (x.kind, '*')
  WHERE x.why IS NULL AND x.session IN (SELECT id FROM session_ WHERE instr(detail, ',') > 0)
  GROUP BY x.session, t.topic),
topic AS MATERIALIZED (SELECT DISTINCT topic FROM topic_)
SELECT p.session, p.id AS process_id, p.pid, t.topic,
       coalesce(w.rank, 0) < 2 AND k.process IS NULL AND r.process IS NULL
       AND coalesce(u.is_partial, 0) = 0 AS complete,
       CASE
         WHEN w.rank = 3 OR k.all_left_out THEN 'not'
         WHEN s.detail = 'stats' OR d.is_whole OR w.sums THEN 'statistics'
         WHEN s.detail = 'full' OR d.is_full THEN 'arguments'
         ELSE 'rows' END AS level,
       NOT (s.detail = 'stats' OR d.groups IS NOT NULL OR coalesce(w.sums, 0) OR u.process_id IS NOT NULL
            OR (t.topic IN ('kernels', 'calls') AND f.session IS NOT NULL)) AS has_rows,
       max(p.ts, coalesce(w.since, p.ts)) AS since, coalesce(w.until, p.ts_end, s.end_ns - s.start_ns) AS until,
       nullif(trim(coalesce(w.words, '') || ',' || coalesce(k.words, '') || iif(r.process IS NULL, '', ',refused')
                   || iif(t.topic IN ('kernels', 'calls') AND f.session IS NOT NULL, ',kernel filter', '')
                   || iif(s.detail = 'stats' OR d.groups IS NOT NULL, ',detail', '')
                   || iif(u.process_id IS NULL, '', ',budget'),
                   ','),
              '') AS narrowed,
       nullif(trim(coalesce(k.why, '') || coalesce('; ' || u.why, '') || coalesce('; ' || w.why,
         '') || coalesce('; ' || r.detail, '')
                   || iif(t.topic IN ('kernels', 'calls'),
                     coalesce('; ' || f.text || ' chose which launches have rows', ''), '')
                   || iif(s.detail = 'stats', '; only counts and times were recorded (--detail stats)', '')
                   || coalesce('; of ' || iif(d.n > 6, d.n || ' groups', replace(d.groups, ',', ', '))
                               || ' only counts and times were recorded (--detail ' || d.list || ')', ''),
                   '; '),
              '') AS why
FROM process_ p
JOIN session_ s ON s.id = p.session
JOIN topic t
LEFT JOIN word w ON w.process_id = p.id
LEFT JOIN lack k ON k.process = p.id AND k.topic = t.topic
LEFT JOIN refusal r ON r.process = p.id AND r.topic = t.topic
LEFT JOIN kernel_filter f ON f.session = p.session
LEFT JOIN saved u ON u.process_id = p.id AND u.topic = t.topic
LEFT JOIN counted d ON d.session = p.session AND d.topic = t.topic
UNION ALL
SELECT session, NULL, NULL, t.topic, 0, 'not', 0, min(start), NULL, 'unwatched', group_concat(why, '; ')
FROM (
  -- the rows of narrowings without a process; SQLite would compile that view again
  SELECT DISTINCT session, ts AS start, 'process ' || value || ' was not watched: ' || detail AS why
  FROM lifecycle_
  WHERE kind = 'untraced' OR (kind = 'unwatched' AND process IS NULL))
JOIN topic t
GROUP BY session, t.topic;
