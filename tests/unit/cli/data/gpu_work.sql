-- Three launches, a copy and a time that no call explains.
INSERT INTO gpu_kernel_ VALUES (1, 1, 4096, NULL, NULL, 1), (2, 1, 8192, 'blit', NULL, NULL);
INSERT INTO gpu_work_ VALUES (1, 1, 0, 1, 1, 1, 1, 4, 1, 700000000, 5000, NULL), (2, 1, 0, 1, 1, 1, 1, 4, 1, 700010000, 7000, NULL),
 (3, 1, 0, 2, 1, 2, NULL, NULL, NULL, 700020000, 900, NULL), (4, 1, 1, NULL, 1, NULL, 1, 3, 1, 700030000, 4000, 65536), (5, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, 700040000, 100, NULL);
INSERT INTO gpu_count_ VALUES (1, 5, 4, 1, 1, 0);
INSERT INTO gpu_stat_ VALUES (1, 'kernel', 1, 1, 2, 12000, 5000, 7000, 0, 700000000, 700010000, x'0b02'),
 (1, 'kernel', 2, 1, 1, 900, 900, 900, 0, 700020000, 700020000, x'0901'), (1, 'copy', 0, 1, 1, 4000, 4000, 4000, 65536, 700030000, 700030000, x'0b01');
