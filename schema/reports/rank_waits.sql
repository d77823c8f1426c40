-- Collective operations of all ranks: which rank entered them last
-- about: The n-th operation of a communicator is the same on all its ranks. The rank that puts it to run last makes the
--   others wait: for at most so long, because their GPUs may have had other work. With times of the GPU, the start of
--   its work there counts.
-- hidden: a part of the page of ranks
-- sort: -others_waited_ns
-- limit: 64
-- leave: operations pid
-- column: rank             count     of the job
-- column: pid              id        its process
-- column: operations       count     that all ranks made together
-- column: last_in          count     of them, those that it entered last
-- column: others_waited_ns duration  the time for which the other ranks waited for it, added up
-- column: waited_ns        duration  the time for which it waited for the last rank
-- column: most_ns          duration  the longest time for which one rank waited for it
WITH known AS MATERIALIZED (
  SELECT function_id AS id, name FROM comm_functions WHERE together
), partial AS MATERIALIZED (  -- from where operations may be missing, the n-th is not the n-th
  SELECT j.job, min(coalesce(w.start, 0) + j.shift) AS since FROM process_ranks r JOIN jobs j ON j.session = r.session
  JOIN narrowings w ON w.process_id = r.process_id
  WHERE w.word IN ('attach', 'delay', 'drops', 'size limit', 'sums', 'vanished')
    OR (w.word = 'window' AND w."end" IS NOT NULL)
  GROUP BY j.job
), told AS MATERIALIZED (
  SELECT j.job, c.session, c.id, c.pid, c.start + j.shift AS start, j.shift, c.parent_id, k.name,
    json_extract(c.args, '$.comm') AS comm
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c JOIN known k ON k.id = c.function_id
  JOIN jobs j ON j.session = c.session LEFT JOIN partial l ON l.job = j.job
  WHERE c.failed = 0 AND (l.since IS NULL OR c.start + j.shift < l.since) /*? AND c.session = :session */
), nested AS MATERIALIZED (
  SELECT call_id AS id FROM library_nesting
  WHERE call_id IN (SELECT id FROM told) AND outer_id IN (SELECT id FROM told)
), member AS MATERIALIZED (
  SELECT j.job, r.session, r.pid, min(r.rank) AS rank, max(r.world_size) AS world FROM process_ranks r
  JOIN jobs j ON j.session = r.session
  WHERE (r.session, r.pid) IN (SELECT session, pid FROM told) GROUP BY r.session, r.pid
), job AS MATERIALIZED (
  SELECT job, count(DISTINCT rank) AS here, coalesce(max(world), count(DISTINCT rank)) AS world
  FROM member GROUP BY job
), maker AS MATERIALIZED (
  SELECT function_id AS id, ranks FROM comm_functions WHERE makes AND name <> 'ncclCommCount'
), made AS MATERIALIZED (
  SELECT c.session, c.pid, c.id, coalesce(json_extract(c.args, '$.newcomm'), json_extract(c.args, '$.comm')) AS comm,
    json_extract(c.args, '$.' || m.ranks) AS ranks
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c JOIN maker m ON m.id = c.function_id WHERE c.failed = 0
), whole AS MATERIALIZED (  -- communicators of all ranks: each rank makes them in the same order
  SELECT m.session, m.pid, m.id, row_number() OVER (PARTITION BY m.session, m.pid ORDER BY m.id) AS nth
  FROM made m JOIN jobs b ON b.session = m.session JOIN job j ON j.job = b.job WHERE m.ranks = j.world
), event AS (
  SELECT session, pid, comm, id, id AS made, NULL AS start, NULL AS shift, NULL AS name FROM made
  UNION ALL
  SELECT session, pid, comm, id, NULL, start, shift, name FROM told WHERE id NOT IN (SELECT id FROM nested)
), matched AS (
  SELECT session, pid, id, start, shift, name, max(made) OVER (PARTITION BY session, pid, comm ORDER BY id) AS made
  FROM event
), numbered AS MATERIALIZED (
  SELECT b.job, x.session, b.rank, x.pid, w.nth, x.name, x.start, g.first + x.shift AS gpu_start,
    row_number() OVER (PARTITION BY x.session, x.pid, w.nth ORDER BY x.id) AS place
  FROM matched x JOIN whole w ON w.id = x.made JOIN member b ON b.session = x.session AND b.pid = x.pid
  LEFT JOIN library_work g ON g.call_id = x.id WHERE x.start IS NOT NULL
), together AS MATERIALIZED (
  SELECT n.job, n.nth, n.place, count(n.gpu_start) = count(*) AS by_gpu FROM numbered n
  JOIN job j ON j.job = n.job GROUP BY n.job, n.nth, n.place
  HAVING count(*) = max(j.here) AND count(DISTINCT n.rank) = count(*) AND count(DISTINCT n.name) = 1 AND count(*) > 1
), entry AS MATERIALIZED (
  SELECT n.job, n.rank, n.pid, n.nth, n.place, iif(t.by_gpu, n.gpu_start, n.start) AS at FROM numbered n
  JOIN together t ON t.job = n.job AND t.nth = n.nth AND t.place = n.place
), operation AS (
  SELECT e.*, max(at) OVER one AS last_at, min(at) OVER one AS first_at, sum(at) OVER one AS sum_at,
    count(*) OVER one AS ranks, row_number() OVER (PARTITION BY job, nth, place ORDER BY at DESC, rank) AS turn
  FROM entry e WINDOW one AS (PARTITION BY job, nth, place)
)
SELECT rank, pid, count(*) AS operations, sum(turn = 1) AS last_in,
       sum(iif(turn = 1, last_at * ranks - sum_at, 0)) AS others_waited_ns, sum(last_at - at) AS waited_ns,
       max(iif(turn = 1, last_at - first_at, 0)) AS most_ns
FROM operation WHERE true /*? AND rank = :rank */ GROUP BY job, rank, pid
