-- Ranks.

-- The rank of a process in a distributed job, by its environment. The names and their order are the same as in
-- daemon/base/rank.hpp; a value that is not a number does not count. Children of a rank have its environment and so its
-- rank. A launcher below another one (srun torchrun) has a rank of the outer one, and is no rank of the job: in a
-- session only the launcher nearest to the programs counts.
CREATE VIEW process_ranks AS
WITH variable(what, place, name) AS (
  VALUES
    ('rank', 1, 'RANK'), ('rank', 2, 'OMPI_COMM_WORLD_RANK'), ('rank', 3, 'PMIX_RANK'), ('rank', 4, 'PMI_RANK'),
    ('rank', 5, 'MV2_COMM_WORLD_RANK'), ('rank', 6, 'SLURM_PROCID'), ('local', 1, 'LOCAL_RANK'),
    ('local', 2, 'OMPI_COMM_WORLD_LOCAL_RANK'), ('local', 3, 'MPI_LOCALRANKID'),
    ('local', 4, 'MV2_COMM_WORLD_LOCAL_RANK'), ('local', 5, 'SLURM_LOCALID'), ('world', 1, 'WORLD_SIZE'),
    ('world', 2, 'OMPI_COMM_WORLD_SIZE'), ('world', 3, 'PMI_SIZE'), ('world', 4, 'MV2_COMM_WORLD_SIZE'),
    ('world', 5, 'SLURM_NTASKS'), ('group', 1, 'GROUP_RANK'),
    ('group', 2, 'SLURM_NODEID')),
found AS (  -- env is JSON without spaces; a quote inside of a value has a backslash before it
  SELECT p.id, p.session, p.pid, v.what, v.place, v.name,
         substr(p.env, instr(p.env, '"' || v.name || '":"') + length(v.name) + 4, 20) AS rest
  FROM process_ p
  JOIN variable v ON instr(p.env, '"' || v.name || '":"') > 0),
said AS (
  SELECT id, session, pid, what, place, name, CAST(substr(rest, 1, instr(rest, '"') - 1) AS INTEGER) AS value
  FROM found
  WHERE instr(rest, '"') BETWEEN 2 AND 10 AND substr(rest, 1, instr(rest, '"') - 1) NOT GLOB '*[^0-9]*'),
first AS (SELECT id, session, pid, what, name, value, min(place) AS place FROM said GROUP BY id, what),
process AS (
  SELECT id AS process_id, session, pid, max(iif(what = 'rank', value, NULL)) AS rank,
         max(iif(what = 'local', value, NULL)) AS local_rank, max(iif(what = 'world', value, NULL)) AS world_size,
         max(iif(what = 'rank', name, NULL)) AS source, max(iif(what = 'group', value, NULL)) AS group_rank,
         max(iif(what = 'rank', place, NULL)) AS place
  FROM first
  GROUP BY id
  HAVING max(what = 'rank'))
SELECT process_id, session, pid, rank, local_rank, world_size, source, group_rank,
       (SELECT s.host FROM session_ s WHERE s.id = process.session) AS host
FROM process
WHERE place = 1  -- no launcher is nearer
   OR NOT EXISTS (SELECT 1
                  FROM variable v
                  JOIN process_ p ON p.session = process.session AND p.env GLOB '*"' || v.name || '":"[0-9]*'
                  WHERE v.what = 'rank' AND v.place < process.place);

-- The distributed job that a session is a part of: sessions of machines and ranks that were recorded into files of
-- their own and merged. Such sessions overlap in time, tell the same size, and have no rank in common. Other sessions
-- are a job of their own. shift: of times of the session, to the begin of the job's first session: by the clock of the
-- machine if both ran on one machine since its boot, else by the wall clocks of both.
CREATE VIEW jobs AS
WITH ranked AS MATERIALIZED (SELECT DISTINCT session, rank, world_size FROM process_ranks WHERE rank IS NOT NULL),
lasted AS MATERIALIZED (
  SELECT s.id AS session, s.start_ns,
         coalesce(s.end_ns, s.start_ns + 1000000000 * (SELECT max(u.sec) + 1
                                                       FROM process_use_ u
                                                       JOIN process_ p ON p.id = u.process
                                                       WHERE p.session = s.id), s.start_ns) AS end_ns,
         coalesce((SELECT max(r.world_size) FROM ranked r WHERE r.session = s.id), 0) AS world
  FROM session_ s
  WHERE s.id IN (SELECT session FROM ranked)),
begun AS (
  SELECT session, world, start_ns,
         start_ns > max(end_ns) OVER (PARTITION BY world ORDER BY start_ns, session
                                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_later
  FROM lasted),
together AS MATERIALIZED (
  SELECT session, world,
         sum(coalesce(is_later, 0)) OVER (PARTITION BY world ORDER BY start_ns, session
                                          ROWS UNBOUNDED PRECEDING) AS part
  FROM begun),
twice AS MATERIALIZED (
  SELECT DISTINCT t.world, t.part
  FROM together t
  JOIN ranked r ON r.session = t.session
  GROUP BY t.world, t.part, r.rank
  HAVING count(DISTINCT t.session) > 1),
first AS MATERIALIZED (
  SELECT t.session,
         iif(w.part IS NULL, first_value(t.session) OVER (PARTITION BY t.world, t.part ORDER BY l.start_ns, t.session),
             t.session) AS job
  FROM together t
  JOIN lasted l ON l.session = t.session
  LEFT JOIN twice w ON w.world = t.world AND w.part = t.part)
SELECT s.id AS session, coalesce(f.job, s.id) AS job, s.host, s.boot_id AS machine,
       coalesce(iif(b.boot_id IS s.boot_id, s.boot_ns - b.boot_ns, s.start_ns - b.start_ns), 0) AS shift
FROM session_ s
LEFT JOIN first f ON f.session = s.id
LEFT JOIN session_ b ON b.id = f.job;
