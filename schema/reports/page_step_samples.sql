-- The line that most samples of each slow step found. :thread NULL: of all threads.
WITH slow AS MATERIALIZED (
  SELECT id, idx, tid, thread_id, start, "end", duration
  FROM steps
  WHERE slow AND session = coalesce(:session, session) AND (:thread IS NULL OR thread_id = :thread)
  ORDER BY duration DESC
  LIMIT 8),
found AS (
  SELECT s.id, s.idx, s.tid, s.duration, x.user_line || coalesce(' ' || x.function, '') AS line, count(*) AS n
  FROM slow s
  JOIN samples x ON x.thread_id = s.thread_id AND x.start BETWEEN s.start AND s."end"
  GROUP BY s.id, line),
placed AS (
  SELECT *, sum(n) OVER (PARTITION BY id) AS whole, row_number() OVER (PARTITION BY id ORDER BY n DESC, line) AS place
  FROM found)
SELECT idx, tid, line, n, whole
FROM placed
WHERE place = 1
ORDER BY duration DESC
