-- Ranks of a distributed job: what each did
-- hidden: a part of the page of ranks
-- sort: rank
-- limit: 64
-- leave: world_size processes pid waited_ns slowest_in launches errors peak_bytes
-- column: rank        count     of the job
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
  SELECT r.session, r.rank, r.world_size, r.process_id, r.pid, coalesce(t.calls, 0) AS calls,
    coalesce(t.errors, 0) AS errors
  FROM process_ranks r
    LEFT JOIN (SELECT process_id, sum(calls) AS calls, sum(errors) AS errors FROM threads
    GROUP BY process_id) t ON t.process_id = r.process_id
  WHERE true /*? AND r.session = :session */ /*? AND r.rank = :rank */),
made AS MATERIALIZED (SELECT * FROM steps WHERE complete AND rank IS NOT NULL /*? AND session = :session */),
slowest AS (
  SELECT session, rank, count(*) AS n FROM (
    SELECT session, rank, row_number() OVER (PARTITION BY session, name, idx ORDER BY duration DESC, rank) AS place,
      count(*) OVER (PARTITION BY session, name, idx) AS n FROM made)
  WHERE place = 1 AND n > 1 GROUP BY session, rank),
ordered AS (SELECT session, rank, duration, row_number() OVER (PARTITION BY session, rank ORDER BY duration) AS place,
  count(*) OVER (PARTITION BY session, rank) AS n FROM made),
usual AS (SELECT session, rank, duration FROM ordered WHERE place = (n + 1) / 2),
ran AS (SELECT u.session, r.rank, sum(u.launches) AS launches FROM process_use u
  JOIN process_ranks r ON r.process_id = u.process_id GROUP BY u.session, r.rank),
done AS (SELECT session, rank, count(*) AS n, sum(waited_ns) AS waited_ns FROM made GROUP BY session, rank),
memory AS (SELECT m.session, r.rank, sum(m.peak) AS peak FROM memory_totals m JOIN member r ON r.session = m.session
  AND r.pid = m.pid WHERE m.memory = 'device' GROUP BY m.session, r.rank),
each AS (
  SELECT session, rank, max(world_size) AS world_size, count(*) AS processes, sum(calls) AS calls,
    sum(errors) AS errors FROM member GROUP BY session, rank)
SELECT e.rank, e.world_size,
  (SELECT m.pid FROM member m WHERE m.session = e.session AND m.rank = e.rank ORDER BY m.calls DESC,
  m.process_id LIMIT 1) AS pid,
       e.processes, e.calls, e.errors, coalesce(l.launches, 0) AS launches, d.n AS steps, u.duration AS median_ns,
         iif(d.n > 0, coalesce(s.n, 0), NULL) AS slowest_in, d.waited_ns, x.peak AS peak_bytes
FROM each e LEFT JOIN done d ON d.session = e.session AND d.rank = e.rank LEFT JOIN usual u ON u.session = e.session
  AND u.rank = e.rank
LEFT JOIN ran l ON l.session = e.session AND l.rank = e.rank LEFT JOIN slowest s ON s.session = e.session
  AND s.rank = e.rank LEFT JOIN memory x ON x.session = e.session AND x.rank = e.rank
