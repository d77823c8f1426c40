-- Three launches, a copy and a time that no call explains.
INSERT INTO gpu_kernel_ VALUES (1, 1, 4096, NULL, NULL, 1), (2, 1, 8192, 'blit', NULL, NULL);
INSERT INTO gpu_work_ VALUES (1, 1, 0, 1, 1, 1, 1, 4, 1, 700000000, 5000, NULL),
    (2, 1, 0, 1, 1, 1, 1, 4, 1, 700010000, 7000, NULL),
 (3, 1, 0, 2, 1, 2, NULL, NULL, NULL, 700020000, 900, NULL), (4, 1, 1, NULL, 1, NULL, 1, 3, 1, 700030000, 4000, 65536),
 (5, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, 700040000, 100, NULL);
INSERT INTO gpu_count_ VALUES (1, 5, 4, 1, 1, 0, 2);
INSERT INTO gpu_stat_ VALUES (1, 'kernel', 1, 1, 2, 12000, 5000, 7000, 0, 700000000, 700010000, x'0b02'),
 (1, 'kernel', 2, 1, 1, 900, 900, 900, 0, 700020000, 700020000, x'0901'),
 (1, 'copy', 0, 1, 1, 4000, 4000, 4000, 65536, 700030000, 700030000, x'0b01');
-- The same device as spans, with idle times of every cause, and the calls and steps around its work.
INSERT INTO gpu_span_ VALUES (1, 1, 700000000, 2700040000, 1200000000, 1100000000, 300000000, 3, 5800, 1),
    (1, 0, 700040000, 700040100, 100, 0, 100, 0, 0, 0);
INSERT INTO gpu_busy_ VALUES (1, 1, 0, 250000000, 250000000, 20000000), (1, 1, 1, 900000000, 800000000, 250000000),
    (1, 1, 2, 50000000, 50000000, 30000000), (1, 0, 0, 100, 0, 100);
INSERT INTO gpu_gap_ VALUES (1, 1, 'launch', 400, 500000000, 2000000), (1, 1, 'sync', 20, 150000000, 20000000),
    (1, 1, 'copy', 2, 50000000, 40000000),
 (1, 1, 'host', 3, 90000000, 60000000), (1, 1, 'queued', 900, 9000000, 30000), (1, 1, 'unknown', 1, 1040000, 1040000);
INSERT INTO gpu_idle_ VALUES (1, 1, 300000000, 60000000, 'host', 359990000, 2, 4, NULL),
    (1, 1, 1900000000, 103000000, 'sync', 2002990000, 5, 10, 7),
 (1, 1, 800000000, 1040000, 'unknown', NULL, NULL, NULL, NULL),
 (1, 1, 900000000, 30000, 'queued', 890000000, 4, 990, NULL);
INSERT INTO gpu_delay_ VALUES (1, 1, 1, 2, 130000, 40000, 90000, 0, x'11011301'),
    (1, 2, 0, 3, 6000, 0, 4000, 1, x'00010a01');
INSERT INTO gpu_copy_ VALUES (1, 1, 1, 1, 65536, 4000, 4000), (1, 1, 2, 3, 3000000, 250000, 90000),
    (1, 0, -2, 1, 0, 100, 100);
INSERT INTO step_ VALUES (21, 1, 1, 1, 'train_step', 200000000, 100000000,
                          1, 2, 3, 40, 0, 20, 2, 8192, 4096, 30000000, 10000000),
 (22, 1, 1, 2, 'train_step', 300000000, 50000000, 0, 3, NULL, 4, 0, 2, 0, 0, 0, 0, 0);
INSERT INTO gpu_step_ VALUES (21, 40, 90000000, 62000000), (22, 3, 70000000, 60000000);
-- Calls 2, 4 and 7 come from lines 20, 40 and 70. Call 2 takes 0.15 of the 60 ms of an idle time.
INSERT INTO frame_ VALUES (1, 1, 1, NULL, 140000000001000, NULL, 'prepare', '/home/ada/train.py', 20),
    (2, 1, 1, NULL, 140000000002000, NULL, 'train', '/home/ada/train.py', 40),
    (3, 1, 1, NULL, 140000000003000, NULL, 'compile', '/home/ada/train.py', 70);
INSERT INTO stack_ VALUES (1, NULL, 1), (2, NULL, 2), (3, NULL, 3);
INSERT INTO call_stack_ VALUES (2, 1), (4, 2), (7, 3);
