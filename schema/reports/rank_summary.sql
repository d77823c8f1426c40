-- Ranks of a distributed job: what each did
-- hidden: a part of the page of ranks
-- sort: rank
-- limit: 64
-- leave: host world_size processes pid waited_ns slowest_in launches errors peak_bytes
-- column: rank        count     of the job
-- column: host        text      its machine, if the job has several
-- column: world_size  count     how many ranks the job has, as its environment says
-- column: pid         id        its process that called the most
-- column: processes   count     with its environment: its helpers count too
-- column: calls       count     watched calls
-- column: errors      count     of them failed
-- column: launches    count     of kernels and graphs
-- column: steps       count     that it ended
-- column: median_ns   duration  half of them took at most this long
-- column: slowest_in  count     steps in which it was the slowest rank
-- column: waited_ns   net       in calls that wait for the GPU, in steps
-- column: peak_bytes  bytes     GPU memory of its processes, the most of each device added up
WITH member AS MATERIALIZED (
  SELECT j.job, j.host, r.session, r.rank, r.world_size, r.process_id, r.pid, coalesce(t.calls, 0) AS calls,
    coalesce(t.errors, 0) AS errors
  FROM process_ranks r JOIN jobs j ON j.session = r.session
    LEFT JOIN (SELECT process_id, sum(calls) AS calls, sum(errors) AS errors FROM threads
    GROUP BY process_id) t ON t.process_id = r.process_id
  WHERE true /*? AND r.session = :session */ /*? AND r.rank = :rank */),
made AS MATERIALIZED (
  SELECT j.job, s.rank, s.name, s.idx, s.duration, s.waited_ns FROM steps s JOIN jobs j ON j.session = s.session
  WHERE s.complete AND s.rank IS NOT NULL /*? AND s.session = :session */),
slowest AS (
  SELECT job, rank, count(*) AS n FROM (
    SELECT job, rank, row_number() OVER (PARTITION BY job, name, idx ORDER BY duration DESC, rank) AS place,
      count(*) OVER (PARTITION BY job, name, idx) AS n FROM made)
  WHERE place = 1 AND n > 1 GROUP BY job, rank),
ordered AS (SELECT job, rank, duration, row_number() OVER (PARTITION BY job, rank ORDER BY duration) AS place,
  count(*) OVER (PARTITION BY job, rank) AS n FROM made),
usual AS (SELECT job, rank, duration FROM ordered WHERE place = (n + 1) / 2),
ran AS (SELECT m.job, m.rank, sum(u.launches) AS launches FROM process_use u
  JOIN member m ON m.process_id = u.process_id GROUP BY m.job, m.rank),
done AS (SELECT job, rank, count(*) AS n, sum(waited_ns) AS waited_ns FROM made GROUP BY job, rank),
memory AS (SELECT r.job, r.rank, sum(m.peak) AS peak FROM memory_totals m JOIN member r ON r.session = m.session
  AND r.pid = m.pid WHERE m.memory = 'device' GROUP BY r.job, r.rank),
each AS (
  SELECT job, rank, iif(min(host) = max(host), min(host), NULL) AS host, max(world_size) AS world_size,
    count(*) AS processes, sum(calls) AS calls, sum(errors) AS errors FROM member GROUP BY job, rank),
several AS MATERIALIZED (SELECT job FROM member GROUP BY job HAVING count(DISTINCT host) > 1)
SELECT e.rank, iif(e.job IN (SELECT job FROM several), e.host, NULL) AS host, e.world_size,
  (SELECT m.pid FROM member m WHERE m.job = e.job AND m.rank = e.rank ORDER BY m.calls DESC,
  m.process_id LIMIT 1) AS pid,
       e.processes, e.calls, e.errors, coalesce(l.launches, 0) AS launches, d.n AS steps, u.duration AS median_ns,
         iif(d.n > 0, coalesce(s.n, 0), NULL) AS slowest_in, d.waited_ns, x.peak AS peak_bytes
FROM each e LEFT JOIN done d ON d.job = e.job AND d.rank = e.rank LEFT JOIN usual u ON u.job = e.job
  AND u.rank = e.rank
LEFT JOIN ran l ON l.job = e.job AND l.rank = e.rank LEFT JOIN slowest s ON s.job = e.job
  AND s.rank = e.rank LEFT JOIN memory x ON x.job = e.job AND x.rank = e.rank
