-- The conditions of fade-query check. title: the word for a met condition if its name says too little: work that
-- failed is not unused.
SELECT c.*, t.title,
       iif(t.title = 'crashed', replace(c.detail, 'it died of ', ''), c.detail) AS told
FROM checks c
LEFT JOIN (
  SELECT v.session, 'not-used' AS condition,
         CASE
           WHEN v.verdict = 'FAILED' AND v.reason GLOB 'it died of *' THEN 'crashed'
           WHEN v.verdict = 'FAILED' THEN 'GPU work failed'
           WHEN v.verdict = 'STOPPED_USING' THEN 'the GPU was used no longer' END AS title
  FROM session_verdicts v) t ON t.session = c.session AND t.condition = c.condition
WHERE c.session = coalesce(:session, c.session)
