-- When program 4242 had allocated most, the driver said that it held 64 MiB, process 77 1 GiB, and the board 1.25 GiB.
INSERT INTO gpu_sample_ VALUES
 (1, 0, 1000000000, 1, 10, 0, 40.5, 90, NULL, NULL, 1342177280.0, 1342177280, NULL, NULL, NULL, NULL, NULL, NULL,
   NULL, NULL, NULL, NULL);
INSERT INTO gpu_holder_ VALUES (1, 0, 1, 4242, 67108864), (1, 0, 1, 77, 1073741824), (1, 1000000000, 1, 77, 0);
