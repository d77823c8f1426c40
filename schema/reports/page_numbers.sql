-- What fade-query numbers says in words: the looks of a session, the first NaN, and what was not looked at.
WITH looked AS (
  SELECT sum(n.copies) AS copies, sum(n.scanned_bytes) AS scanned, sum(n.bytes) AS bytes, sum(n.nan) AS nan,
         sum(n.inf) AS inf, sum(n.outside) AS outside,
         -- with checksum alone no type is needed
         sum(iif(n.type IS NULL AND s.options REGEXP 'watch-numbers[ =](\S*,)?(nan|inf|range)', n.copies, 0)) AS untyped
  FROM number_stats n JOIN sessions s ON s.id = n.session WHERE n.session = coalesce(:session, n.session)
), first_nan AS (
  SELECT n.*, (SELECT u.user_line FROM user_lines u WHERE u.stack = n.stack) AS user_line
  FROM numbers n WHERE n.nan > 0 AND n.session = coalesce(:session, session) ORDER BY n.id LIMIT 1
)
SELECT 'looked' AS what, l.copies, l.scanned, l.bytes, l.nan, l.inf, l.outside, l.untyped, NULL AS at, NULL AS name,
       NULL AS direction, NULL AS user_line, NULL AS type, NULL AS guessed, NULL AS elements, NULL AS first_element,
       NULL AS first_value, NULL AS step, NULL AS reason, NULL AS uploaded
FROM looked l WHERE l.copies > 0
UNION ALL
SELECT 'first', 1, f.scanned_bytes, f.bytes, f.nan, f.inf, f.outside, 0, f.at, f.name, f.direction, f.user_line, f.type,
       f.guessed, f.elements, f.first_element, f.first_value, f.step, NULL,
       (SELECT sum(iif(u.first_nan < f.id, u.nan, 0)) FROM number_sum_ u WHERE u.process = f.process_id
        AND u.device = f.device AND NOT u.down)
FROM first_nan f
UNION ALL
SELECT 'left', sum(copies), NULL, sum(bytes), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, reason, NULL
FROM numbers_unscanned WHERE session = coalesce(:session, session) GROUP BY reason
