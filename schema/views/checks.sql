-- The conditions of fade-query check.

-- A row for each session and condition, but findings. n: how often it is met, 0: not met. unknown: the reason if n is
-- unknown, because a part that it depends on was not watched. title: the word for a met condition if its name says too
-- little: work that failed is not unused.
CREATE VIEW session_checks AS
WITH part AS MATERIALIZED (
  SELECT session, topic, min(coalesce('process ' || pid || ': ', '') || why) AS why,
         max(trim(replace(replace(replace(narrowed, 'attach', ''), 'delay', ''), 'detail', ''), ',') <> '') AS open_end
  FROM watched
  WHERE NOT complete
  GROUP BY session, topic),
failed AS (
  SELECT s.id AS session, coalesce(sum(f.repeats), 0) AS n,
         sum(f.repeats) || iif(sum(f.repeats) = 1, ' call', ' calls') || ' failed; the first: '
         || (SELECT x.name || ' returned ' || coalesce(x.error, x.code)
             FROM failures x
             WHERE x.session = s.id AND NOT x.normal
             ORDER BY x.id
             LIMIT 1) AS detail
  FROM session_ s
  LEFT JOIN failures f ON f.session = s.id AND NOT f.normal
  GROUP BY s.id),
live AS (
  SELECT s.id AS session, coalesce(sum(m.live_at_end), 0) AS n, coalesce(sum(m.allocs), 0) AS allocs
  FROM session_ s
  LEFT JOIN memory_totals m ON m.session = s.id
  GROUP BY s.id)
SELECT v.session, 'not-used' AS condition, v.verdict NOT IN ('USED', 'UNWATCHED') AS n,
       v.reason || ' (verdict ' || v.verdict || ', process ' || v.pid || ')' AS detail, 1 AS usual,
       iif(v.verdict = 'UNWATCHED', v.reason || ' (verdict UNWATCHED, process ' || v.pid || ')', NULL) AS unknown,
       CASE
         WHEN v.verdict = 'FAILED' AND v.reason GLOB 'it died of *' THEN 'crashed'
         WHEN v.verdict = 'FAILED' THEN 'GPU work failed'
         WHEN v.verdict = 'STOPPED_USING' THEN 'the GPU was used no longer' END AS title
FROM session_verdicts v
UNION ALL
SELECT f.session, 'errors', f.n, f.detail, 1, iif(f.n = 0, 'no call that was watched failed; ' || p.why, NULL), NULL
FROM failed f
LEFT JOIN part p ON p.session = f.session AND p.topic = 'errors'
UNION ALL
SELECT s.id, 'dropped', coalesce(sum(d.n), 0),
       sum(d.n) || iif(sum(d.n) = 1, ' event was', ' events were') || ' not recorded: ' || min(d.reason), 1, NULL, NULL
FROM session_ s
LEFT JOIN drop_ d ON d.session = s.id
GROUP BY s.id
UNION ALL
SELECT s.id, 'dropped', count(l.id), 'calls were not recorded: ' || min(l.detail), 1, NULL, NULL
FROM session_ s
LEFT JOIN lifecycle_ l ON l.session = s.id AND l.kind = 'vanished'
GROUP BY s.id
UNION ALL
SELECT s.id, 'unclean', s.clean = 0, 'the recording was not closed: fade was killed, or is still recording', 1, NULL,
       NULL
FROM session_ s
UNION ALL
SELECT s.id, 'overwritten', coalesce(sum(o.hits), 0),
       sum(o.hits) || iif(sum(o.hits) = 1, ' answer was', ' answers were') || ' overwritten: '
       || group_concat(CASE WHEN o.hits > 0 THEN o.spec END, ', '),
       0,
       iif(s.clean = 0 AND coalesce(sum(o.hits), 0) = 0 AND count(o.id) > 0,
           'the recording was not closed: what came last is not known', NULL),
       NULL
FROM session_ s
LEFT JOIN overrides o ON o.session = s.id
GROUP BY s.id
UNION ALL
SELECT x.session, 'leaks', iif(f.open_end, 0, x.n), x.n || ' bytes of GPU memory or pinned memory were never freed', 0,
       CASE
         WHEN x.n > 0 AND f.open_end THEN x.n || ' bytes were not seen to be freed; ' || f.why
         WHEN x.n = 0
           THEN iif(x.allocs = 0, 'no allocation was seen; ', 'all memory whose allocation was watched was freed; ')
                || m.why END,
       NULL
FROM live x
LEFT JOIN part f ON f.session = x.session AND f.topic = 'frees'
LEFT JOIN part m ON m.session = x.session AND m.topic = 'memory'
UNION ALL
SELECT s.id, 'unwatched', count(l.id),
       'not watched: '
       || (SELECT x.detail
           FROM lifecycle_ x
           WHERE x.session = s.id AND x.kind IN ('unwatched', 'refused', 'untraced')
           ORDER BY x.id
           LIMIT 1),
       0, NULL, NULL
FROM session_ s
LEFT JOIN lifecycle_ l ON l.session = s.id AND l.kind IN ('unwatched', 'refused', 'untraced')
GROUP BY s.id
UNION ALL
SELECT s.id, 'exit', coalesce(p.exit_signal, 0) > 0 OR coalesce(p.exit_code, 0) > 0,
       CASE
         WHEN p.exit_signal > 0
           THEN 'the program was ended by '
                || coalesce((SELECT n.name FROM signal_name_ n WHERE n.signal = p.exit_signal),
                            'signal ' || p.exit_signal)
         ELSE 'the program ended with exit status ' || p.exit_code END,
       0,
       iif(p.id IS NULL OR p.ts_end IS NULL OR coalesce(p.exit_signal, p.exit_code) IS NULL,
           'the program had not ended when the recording did', NULL),
       NULL
FROM session_ s
LEFT JOIN process_ p ON p.id = (SELECT min(x.id) FROM process_ x WHERE x.session = s.id);

-- The same for the condition of findings, which takes longer.
CREATE VIEW finding_checks AS
WITH found AS (
  SELECT s.id AS session, count(DISTINCT f.finding) AS n,
         'fade-query findings explains: ' || group_concat(DISTINCT f.finding) AS detail
  FROM session_ s
  LEFT JOIN findings f ON f.session = s.id AND f.severity <> 'info'
  GROUP BY s.id)
SELECT f.session, 'findings' AS condition, f.n, f.detail, 0 AS usual,
       iif(f.n = 0,
           'nothing was found in what was watched; '
           || (SELECT min(coalesce('process ' || w.pid || ': ', '') || w.why)
               FROM watched w
               WHERE w.session = f.session AND w.topic = 'calls' AND NOT w.complete),
           NULL) AS unknown, NULL AS title
FROM found f;

CREATE VIEW checks AS
SELECT session, condition, n, detail, usual, unknown
FROM session_checks
UNION ALL
SELECT session, condition, n, detail, usual, unknown
FROM finding_checks;
