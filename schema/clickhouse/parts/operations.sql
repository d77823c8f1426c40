-- For SQLite: the collective operations of communicators of all ranks, numbered as in schema/reports/rank_waits.sql,
-- and the steps that they were made in. The last of several common table expressions is `operation`.
known AS MATERIALIZED (
  SELECT function_id AS id, name FROM comm_functions WHERE together AND session = :session
), partial AS MATERIALIZED (  -- from where operations may be missing, the n-th is not the n-th
  SELECT min(coalesce(w.start, 0)) AS since FROM process_ranks r JOIN narrowings w ON w.process_id = r.process_id
  WHERE r.session = :session AND (w.word IN ('attach', 'delay', 'drops', 'size limit', 'sums', 'vanished')
    OR (w.word = 'window' AND w."end" IS NOT NULL))
), told AS MATERIALIZED (
  SELECT c.id, c.pid, c.tid, c.start, c.duration, k.name, json_extract(c.args, '$.comm') AS comm
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c JOIN known k ON k.id = c.function_id, partial l
  WHERE c.failed = 0 AND (l.since IS NULL OR c.start < l.since)
), nested AS MATERIALIZED (
  SELECT call_id AS id FROM library_nesting
  WHERE call_id IN (SELECT id FROM told) AND outer_id IN (SELECT id FROM told)
), member AS MATERIALIZED (
  SELECT pid, min(rank) AS rank, max(world_size) AS world FROM process_ranks
  WHERE session = :session AND pid IN (SELECT pid FROM told) GROUP BY pid
), maker AS MATERIALIZED (
  SELECT function_id AS id, ranks FROM comm_functions
  WHERE makes AND name <> 'ncclCommCount' AND session = :session
), made AS MATERIALIZED (
  SELECT c.pid, c.id, coalesce(json_extract(c.args, '$.newcomm'), json_extract(c.args, '$.comm')) AS comm,
    json_extract(c.args, '$.' || m.ranks) AS ranks
  FROM (SELECT 1 FROM known LIMIT 1) CROSS JOIN calls c JOIN maker m ON m.id = c.function_id WHERE c.failed = 0
), whole AS MATERIALIZED (  -- communicators of all ranks: each rank makes them in the same order
  SELECT pid, id, row_number() OVER (PARTITION BY pid ORDER BY id) AS nth FROM made
  WHERE ranks = coalesce((SELECT max(world) FROM member), (SELECT count(DISTINCT rank) FROM member))
), event AS (
  SELECT pid, comm, id, id AS made, NULL AS tid, NULL AS start, NULL AS duration, NULL AS name FROM made
  UNION ALL
  SELECT pid, comm, id, NULL, tid, start, duration, name FROM told WHERE id NOT IN (SELECT id FROM nested)
), matched AS (
  SELECT pid, id, tid, start, duration, name, max(made) OVER (PARTITION BY pid, comm ORDER BY id) AS made FROM event
), numbered AS MATERIALIZED (
  SELECT x.pid, x.tid, w.nth AS communicator, x.id, x.name, x.start, x.duration,
    row_number() OVER (PARTITION BY x.pid, w.nth ORDER BY x.id) AS nth
  FROM matched x JOIN whole w ON w.id = x.made JOIN member b ON b.pid = x.pid WHERE x.start IS NOT NULL
), series AS (  -- the thread of each rank that makes most of the steps
  SELECT thread_id FROM (
    SELECT thread_id, row_number() OVER (PARTITION BY pid ORDER BY count(*) DESC, thread_id) AS place
    FROM steps WHERE session = :session AND complete GROUP BY pid, thread_id)
  WHERE place = 1
), moment AS (  -- an operation belongs to the step that began last before it
  SELECT pid, start, 0 AS is_call, id, idx, "end" FROM steps
  WHERE session = :session AND complete AND thread_id IN (SELECT thread_id FROM series)
  UNION ALL
  SELECT pid, start, 1, id, NULL, NULL FROM numbered
), placed AS MATERIALIZED (
  SELECT id, is_call, start, max(idx) OVER earlier AS idx, max("end") OVER earlier AS until FROM moment
  WINDOW earlier AS (PARTITION BY pid ORDER BY start, is_call ROWS UNBOUNDED PRECEDING)
), operation AS (
  SELECT n.communicator, n.nth, n.pid, n.tid, n.name, n.start, n.duration, n.id AS call_id,
    iif(p.start < p.until, p.idx, NULL) AS step, g.first AS gpu_start, g.last AS gpu_end
  FROM numbered n LEFT JOIN placed p ON p.id = n.id AND p.is_call LEFT JOIN library_work g ON g.call_id = n.id
)
