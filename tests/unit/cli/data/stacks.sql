-- Frames of all kinds, an inlined function, and the sums of calls by stack and by calling library.
INSERT INTO frame_ VALUES (1, 1, 0, 13, 139637900004660, 4660, 'c10::hip::HIPCachingAllocator::malloc',
                           '/src/c10/hip/HIPCachingAllocator.cpp', 310),
    (2, 1, 1, NULL, 140000000001000, NULL, 'Trainer.step', '/home/ada/train.py', 42),
 (3, 1, 1, NULL, 140000000002000, NULL, '<module>', '/home/ada/train.py', 80),
 (4, 1, 0, 13, 139637900008192, 8192, NULL, NULL, NULL), (5, 1, 2, NULL, 0, NULL, 'deeper than 64 frames', NULL, NULL),
 (6, 1, 0, NULL, 140737488355328, NULL, NULL, NULL, NULL),
 (7, 1, 0, 13, 139637900020000, 20000, 'evil;name ' || char(27) || '[31m', NULL, NULL);
INSERT INTO inline_ VALUES (1, 0, 'c10::hip::Block::take', '/src/c10/hip/Block.h', 12);
INSERT INTO stack_ VALUES (1, NULL, 3), (2, 1, 2), (3, 2, 1), (4, 2, 4), (5, NULL, 5), (6, 5, 7), (7, 6, 6);
INSERT INTO call_stack_ VALUES (2, 3), (3, 3), (4, 4), (5, 4), (6, 7);
INSERT INTO stack_stat_ VALUES (3, 1, 2, 1, 180000, 180000, 1048576, 2),
    (4, 3, 1, 0, 2000000, 2000000, 0, 4), (4, 4, 1, 0, 12000, 12000, 0, 5), (7, 4, 1, 0, 9000, 9000, 0, 6);
INSERT INTO caller_stat_ VALUES (1, '/usr/lib/libtorch_hip.so', 8, 1, 0, 90000, 90000), (1, '/usr/lib/libtorch_hip.so',
        1, 2, 1, 180000, 180000), (1, '/usr/lib/libtorch_hip.so', 3, 8, 7, 2049000, 2049000),
 (1, '/usr/lib/libtorch_hip.so', 4, 1, 0, 9000, 9000), (1, '/usr/lib/libtorch_hip.so', 2, 1, 0, 5000, 5000),
 (1, '', 4, 2, 0, 20000, 20000), (1, '', 6, 1, 0, 300000000, 210000000), (1, '', 7, 1, 0, 90000000, 90000000);
