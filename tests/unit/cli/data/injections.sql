-- Rules of --inject and --replace: one that failed calls in two ways, one that replaced an argument, one without
-- effect.
INSERT INTO injection_ VALUES
 (1, 1, 'hipMalloc:error=2:every=2', 'hipMalloc', 'error=hipErrorOutOfMemory', '--inject', 7),
 (2, 1, 'hipMalloc.size=4096', 'hipMalloc', 'size=4096', 'plan.txt:2:1', 7),
 (3, 1, 'hipFree:delay=5ms', 'hipFree', 'delay=5ms', '--inject', 7);
INSERT INTO injection_hit_ VALUES
 (1, 1, 3, 1, 1, 1, 400000000, 900000000, 'error', NULL, 'hipErrorOutOfMemory', 4),
 (2, 1, NULL, 1, 1, NULL, 500000000, 500000000, 'late error', 'hipSuccess', 'hipErrorOutOfMemory', 1),
 (3, 2, 2, 1, 1, 1, 300000000, 300000000, 'size', '1048576', '4096', 1);
