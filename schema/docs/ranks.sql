-- Ranks.
INSERT INTO doc_ (view, "column", type, unit, text) VALUES
('process_ranks', '', '', '',
 'Processes of a distributed job: the rank that torchrun, mpirun or srun put into their environment. Other processes '
 || 'have no row, and neither has a launcher that another one started (srun torchrun)'),
('process_ranks', 'process_id', 'integer', '', 'processes.id'),
('process_ranks', 'session', 'integer', '', 'sessions.id'),
('process_ranks', 'pid', 'integer', '', 'process id of the operating system'),
('process_ranks', 'rank', 'integer', '', 'among all processes of the job'),
('process_ranks', 'local_rank', 'integer', '', 'among those of this machine, NULL if nothing says so'),
('process_ranks', 'world_size', 'integer', '', 'how many there are, NULL if nothing says so'),
('process_ranks', 'source', 'text', '', 'name of the variable that holds the rank'),
('process_ranks', 'group_rank', 'integer', '', 'of its node or group of workers, NULL if nothing says so'),
('process_ranks', 'host', 'text', '', 'name of the machine'),
('jobs', '', '', '',
 'Sessions of one distributed job, of several merged files (fade-query merge). They overlap in time, tell the same '
 || 'size and have no rank in common; any other session is a job of its own'),
('jobs', 'session', 'integer', '', 'sessions.id'),
('jobs', 'job', 'integer', '', 'sessions.id of the first session of the job'),
('jobs', 'host', 'text', '', 'name of the machine'),
('jobs', 'machine', 'text', '', 'the machine since its boot; times of one machine have one clock'),
('jobs', 'shift', 'integer', 'ns',
 'to be added to times of the session for times since the begin of the job; between machines as exact as their clocks'),
('processes', 'rank', 'integer', '', 'rank in a distributed job (process_ranks), NULL if it has none'),
('threads', 'rank', 'integer', '', 'rank of its process (process_ranks), NULL if it has none'),
('steps', 'rank', 'integer', '', 'rank of its process (process_ranks), NULL if it has none');
