-- The conditions of fade-query check. title: the word for a met condition if its name says too little: work that
-- failed is not unused. The parts are materialized, so that SQLite compiles the views in them once.
WITH known AS MATERIALIZED (SELECT * FROM checks),
titles AS MATERIALIZED (
  SELECT v.session,
         CASE
           WHEN v.verdict = 'FAILED' AND v.reason GLOB 'it died of *' THEN 'crashed'
           WHEN v.verdict = 'FAILED' THEN 'GPU work failed'
           WHEN v.verdict = 'STOPPED_USING' THEN 'the GPU was used no longer' END AS title
  FROM session_verdicts v)
SELECT c.*, t.title,
       iif(t.title = 'crashed', replace(c.detail, 'it died of ', ''), c.detail) AS told
FROM known c
LEFT JOIN titles t ON t.session = c.session AND c.condition = 'not-used'
WHERE c.session = coalesce(:session, c.session)
