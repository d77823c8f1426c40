-- The same from single calls, for columns of any width. Marks of ranges do not count, as in the seconds.
SELECT part, sum(calls) AS calls, sum(errors) AS errors, sum(launches) AS launches
FROM (
  SELECT start / :width AS part, 1 AS calls, coalesce(failed, 0) AS errors, 0 AS launches
  FROM calls
  WHERE category <> 'roctx' AND session = coalesce(:session, session)
  UNION ALL
  SELECT start / :width, 0, 0, 1
  FROM launches
  WHERE nth = 0 AND result = 0 AND session = coalesce(:session, session))
GROUP BY part
ORDER BY part
