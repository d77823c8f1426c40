-- Two ranks of one job of torchrun, which Slurm started. Rank 0 is faster in the steps that both made.
UPDATE process_ SET env = '{"HIP_VISIBLE_DEVICES":"0","RANK":"1","LOCAL_RANK":"1","WORLD_SIZE":"2","SLURM_PROCID":"7"}'
WHERE id = 1;
UPDATE process_ SET env = '{"RANK":"0","WORLD_SIZE":"2"}' WHERE id = 2;
INSERT INTO step_ VALUES
 (1, 1, 1, 1, 'train_step', 3100000000, 100000000, 1, 2, 3, 40, 0, 20, 2, 8192, 4096, 30000000, 10000000),
 (2, 1, 1, 2, 'train_step', 3200000000, 98000000, 1, 3, 4, 40, 0, 20, 2, 8192, 0, 31000000, 11000000),
 (3, 1, 1, 3, 'train_step', 3300000000, 510000000, 1, 4, 5, 45, 1, 20, 2, 8192, 1048576, 130000000, 110000000),
 (7, 2, 3, 1, 'train_step', 3100000000, 90000000, 1, NULL, NULL, 30, 0, 20, 2, 8192, 0, 20000000, 10000000),
 (8, 2, 3, 2, 'train_step', 3200000000, 99000000, 1, NULL, NULL, 30, 0, 20, 2, 8192, 0, 20000000, 10000000),
 (9, 2, 3, 3, 'train_step', 3300000000, 110000000, 1, NULL, NULL, 30, 0, 20, 2, 8192, 0, 20000000, 10000000);
INSERT INTO step_stat_ VALUES (1, 4, 20, 0, 8000000), (1, 5, 1, 0, 6000000), (2, 4, 20, 0, 8000000),
  (3, 4, 20, 0, 9000000), (3, 3, 2, 1, 4000000),
 (3, 5, 4, 0, 105000000), (7, 4, 20, 0, 8000000), (8, 4, 20, 0, 9000000), (9, 4, 20, 0, 9000000);
INSERT INTO device_ VALUES (3, 2, 0, 'AMD Radeon RX 6800 XT', 'gfx1030', '0000:04:00.0', NULL, 17163091968);
INSERT INTO mem_bucket_ VALUES (350, 3, 0, 1048576, 2097152, 2, 1), (4000, 3, 0, 0, 1048576, 0, 1);
-- Collective operations of both ranks: rank 1 is the last one in two of three. A communicator of one rank, an operation
-- inside another one, and a fourth one of rank 0 alone are not compared.
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (200, 1, 'ncclCommInitRank', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (201, 1, 'ncclAllReduce', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0),
 (202, 1, 'ncclReduce', 'rccl', 'comm', 'other', '/opt/rocm/lib/librccl.so.1', '', 'ncclResult_t', 0);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (200, 3000000000, 5000, 1, 200, 1, NULL, NULL, NULL), (201, 3000000000, 5000, 3, 200, 1, NULL, NULL, NULL),
 (202, 3000100000, 5000, 1, 200, 1, NULL, NULL, NULL), (203, 3000200000, 5000, 1, 201, 1, NULL, NULL, NULL),
 (204, 3100000000, 9000, 3, 201, 1, NULL, NULL, NULL), (205, 3150000000, 9000, 1, 201, 1, NULL, NULL, NULL),
 (206, 3150001000, 7000, 1, 202, 1, 1, NULL, NULL), (207, 3200000000, 9000, 1, 201, 1, NULL, NULL, NULL),
 (208, 3220000000, 9000, 3, 201, 1, NULL, NULL, NULL), (209, 3300000000, 9000, 3, 201, 1, NULL, NULL, NULL),
 (210, 3400000000, 9000, 1, 201, 1, NULL, NULL, NULL), (211, 3500000000, 9000, 3, 201, 1, NULL, NULL, NULL);
INSERT INTO arg_ VALUES
 (200, '{"comm":"0x10","nranks":2,"rank":1}'), (201, '{"comm":"0x77","nranks":2,"rank":0}'),
 (202, '{"comm":"0x20","nranks":1,"rank":0}'), (203, '{"count":1,"comm":"0x20"}'), (204, '{"count":8,"comm":"0x77"}'),
 (205, '{"count":8,"comm":"0x10"}'), (206, '{"count":8,"comm":"0x10"}'), (207, '{"count":8,"comm":"0x10"}'),
 (208, '{"count":8,"comm":"0x77"}'), (209, '{"count":8,"comm":"0x77"}'), (210, '{"count":8,"comm":"0x10"}'),
 (211, '{"count":8,"comm":"0x77"}');
