-- For each step of several ranks the slowest rank. Numbers stand for jobs and names on the way: millions of rows are
-- grouped by numbers in seconds.
SELECT job, slow
FROM (
  SELECT cityHash64(job) AS job_, cityHash64(name) AS name_, idx, max(assumeNotNull(duration)) AS longest,
    arrayReduce('min', arrayFilter((r, d) -> d = longest, groupArray(assumeNotNull(rank)),
      groupArray(assumeNotNull(duration)))) AS slow
  FROM steps WHERE rank IS NOT NULL AND complete = 1 /*? AND job = :job */
  GROUP BY job_, name_, idx
  HAVING count() > 1) AS made
GLOBAL ALL INNER JOIN (SELECT DISTINCT job, cityHash64(job) AS job_ FROM recordings WHERE 1 /*? AND job = :job */)
  AS jobs USING (job_)
