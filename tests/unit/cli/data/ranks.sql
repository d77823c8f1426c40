-- Two ranks of one job: process 1 by torchrun's variable, process 2 by that of Open MPI. Rank 0 is faster in the steps that both made.
UPDATE process_ SET env = '{"HIP_VISIBLE_DEVICES":"0","RANK":"1","LOCAL_RANK":"1","WORLD_SIZE":"2","SLURM_PROCID":"7"}' WHERE id = 1;
UPDATE process_ SET env = '{"OMPI_COMM_WORLD_RANK":"0","OMPI_COMM_WORLD_SIZE":"2"}' WHERE id = 2;
INSERT INTO step_ VALUES
 (1, 1, 1, 1, 'train_step', 3100000000, 100000000, 1, 2, 3, 40, 0, 20, 2, 8192, 4096, 30000000, 10000000),
 (2, 1, 1, 2, 'train_step', 3200000000, 98000000, 1, 3, 4, 40, 0, 20, 2, 8192, 0, 31000000, 11000000),
 (3, 1, 1, 3, 'train_step', 3300000000, 510000000, 1, 4, 5, 45, 1, 20, 2, 8192, 1048576, 130000000, 110000000),
 (7, 2, 3, 1, 'train_step', 3100000000, 90000000, 1, NULL, NULL, 30, 0, 20, 2, 8192, 0, 20000000, 10000000),
 (8, 2, 3, 2, 'train_step', 3200000000, 99000000, 1, NULL, NULL, 30, 0, 20, 2, 8192, 0, 20000000, 10000000),
 (9, 2, 3, 3, 'train_step', 3300000000, 110000000, 1, NULL, NULL, 30, 0, 20, 2, 8192, 0, 20000000, 10000000);
INSERT INTO step_stat_ VALUES (1, 4, 20, 0, 8000000), (1, 5, 1, 0, 6000000), (2, 4, 20, 0, 8000000), (3, 4, 20, 0, 9000000), (3, 3, 2, 1, 4000000),
 (3, 5, 4, 0, 105000000), (7, 4, 20, 0, 8000000), (8, 4, 20, 0, 9000000), (9, 4, 20, 0, 9000000);
INSERT INTO device_ VALUES (3, 2, 0, 'AMD Radeon RX 6800 XT', 'gfx1030', '0000:04:00.0', NULL, 17163091968);
INSERT INTO mem_bucket_ VALUES (350, 3, 0, 1048576, 2097152, 2, 1), (4000, 3, 0, 0, 1048576, 0, 1);
