-- Ranks.

-- The rank of a process in a distributed job, by its environment. The names and their order are the same as in
-- daemon/base/rank.hpp; a value that is not a number does not count. Children of a rank have its environment and so its
-- rank.
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
first AS (SELECT id, session, pid, what, name, value, min(place) FROM said GROUP BY id, what)
SELECT id AS process_id, session, pid, max(iif(what = 'rank', value, NULL)) AS rank,
       max(iif(what = 'local', value, NULL)) AS local_rank, max(iif(what = 'world', value, NULL)) AS world_size,
       max(iif(what = 'rank', name, NULL)) AS source, max(iif(what = 'group', value, NULL)) AS group_rank,
       (SELECT s.host FROM session_ s WHERE s.id = first.session) AS host
FROM first
GROUP BY id
HAVING max(what = 'rank');
