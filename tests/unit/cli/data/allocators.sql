-- Blocks that PyTorch's allocator gave out of its piece of 4 MiB: the first and the third one are in use at the end.
-- The last call is of the host's memory.
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (90, 1, '_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE', 'torch', 'ops-memory', 'other',
  '/venv/torch/lib/libc10.so', '', 'void', NULL);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (90, 5000000000, 100, 1, 90, 1, NULL, NULL, NULL), (91, 5000001000, 100, 1, 90, 1, NULL, NULL, NULL),
 (92, 5000002000, 100, 1, 90, 1, NULL, NULL, NULL), (93, 5000003000, 100, 1, 90, 1, NULL, NULL, NULL),
 (94, 5000004000, 100, 1, 90, 1, NULL, NULL, NULL);
INSERT INTO arg_ VALUES
 (90, '{"ptr":139637977776128,"alloc_size":1048576,"total_allocated":1048576,"total_reserved":4194304,"device":1}'),
 (91, '{"ptr":139637978824704,"alloc_size":1048576,"total_allocated":2097152,"total_reserved":4194304,"device":1}'),
 (92, '{"ptr":139637979873280,"alloc_size":524288,"total_allocated":2621440,"total_reserved":4194304,"device":1}'),
 (93, '{"ptr":139637978824704,"alloc_size":-1048576,"total_allocated":1572864,"total_reserved":4194304,"device":1}'),
 (94, '{"ptr":94038210,"alloc_size":64,"total_allocated":64,"total_reserved":0,"device":65280}');
