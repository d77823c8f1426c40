-- The longest of the outermost ranges.
SELECT start, duration, name, count(*) OVER () AS n
FROM ranges
WHERE kind <> 'mark' AND depth = 0 AND duration IS NOT NULL AND session = coalesce(:session, session)
ORDER BY duration DESC
LIMIT :most
