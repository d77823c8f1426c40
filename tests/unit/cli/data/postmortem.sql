-- Beside seed.sql: process 1 died of a fault inside of a copy while its other thread waited, after it had seemed to
-- hang.
INSERT INTO postmortem_ VALUES
 (1, 1, 1, NULL, 8000000000, 'hang', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 5000000000, NULL, NULL),
 (2, 1, 1, 1, 9000000000, 'signal', 11, 1, 64, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (3, 1, 1, NULL, 9100000000, 'signal', 9, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'oom', 'the kernel counted');
INSERT INTO postmortem_thread_ VALUES
 (1, 1, 8000000100, 'ioctl on /dev/kfd', 1, 4660, 52, 'ioctl+0x3', NULL, NULL),
 (1, 2, 8000000200, 'futex', NULL, NULL, NULL, NULL, NULL, NULL),
 (2, 1, 9000000100, 'running', 1, 4700, 92, 'copy(int)+0x5', 92, NULL),
 (2, 2, 9000000200, NULL, NULL, NULL, NULL, NULL, NULL, 'hipDeviceSynchronize');
INSERT INTO postmortem_call_ VALUES (1, 90, 1, 6, NULL, 3000000000, 1, '{}'),
    (2, 91, 1, 3, NULL, 8999000000, 1, '{"dst":"0x40"}');
INSERT INTO postmortem_last_ VALUES (2, 5, 1, 4, 8000000000, 12000, 1, 0),
    (2, 6, 2, 3, 8100000000, 7000, 1, 1), (2, 7, 2, 7, 8200000000, 7000, 0, 0);
INSERT INTO postmortem_memory_ VALUES (2, 1, 0, 4194304, 5242880), (2, 1, 1, 65536, 65536);
INSERT INTO frame_ VALUES (91, 1, 0, 1, 4700, 92, 'copy(int)', 'copy.cpp', 12),
    (92, 1, 1, NULL, 5000, NULL, 'main', 'train.py', 31);
INSERT INTO stack_ VALUES (91, NULL, 92), (92, 91, 91);
