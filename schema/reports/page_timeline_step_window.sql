-- The time of the steps :first to :last of all threads, and the numbers that there are.
SELECT min(CASE WHEN idx BETWEEN :first AND :last THEN start END) AS start,
       max(CASE WHEN idx BETWEEN :first AND :last THEN "end" END) AS "end", min(idx) AS lowest, max(idx) AS highest
FROM steps
WHERE session = coalesce(:session, session) AND (:pid IS NULL OR pid = :pid) AND (:rank IS NULL OR rank = :rank)
  AND (:tid IS NULL OR tid = :tid)
