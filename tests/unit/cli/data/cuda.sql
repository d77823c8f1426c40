-- Beside seed.sql: a CUDA program on ZLUDA. An allocation that HIP refuses, attributes of which six are answered
-- without HIP, a gap.
INSERT INTO module_ (id, process, path, soname, build_id, role, version, base, size, sites, ts, ts_end) VALUES
 (30, 1, '/opt/zluda/libnvcuda.so', 'libcuda.so.1', 'cc33', 'zluda', '',
  139637900000000, 9000000, 640, 210000000, NULL);
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (20, 1, 'cuMemAlloc_v2', 'cuda', 'mem', 'other', '/opt/zluda/libnvcuda.so', 'dptr,bytesize', 'CUresult', 0),
 (21, 1, 'cuDeviceGetAttribute', 'cuda', 'device', 'device_query', '/opt/zluda/libnvcuda.so',
  'pi,attrib,dev', 'CUresult', 0),
 (22, 1, 'cuMemAllocManaged', 'cuda', 'mem', 'other', '/opt/zluda/libnvcuda.so', 'dptr,bytesize,flags', 'CUresult', 0),
 (23, 1, 'hipDeviceGetAttribute', 'hip', 'device', 'device_query', '/opt/rocm/lib/libamdhip64.so.6',
  'pi,attr,deviceId', 'hipError_t', 0);
INSERT INTO function_name_ VALUES (22, 'cuMemPoolCreate'), (22, 'cuStreamAttachMemAsync');
INSERT INTO result_name_ VALUES (20, 2, 'CUDA_ERROR_OUT_OF_MEMORY', 1), (22, 801, 'CUDA_ERROR_NOT_SUPPORTED', 1);
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (20, 9700000000, 400000, 1, 20, 1, NULL, 2, NULL), (21, 9700100000, 200000, 1, 1, NULL, 1, 2, NULL),
 (22, 9800000000, 3000, 1, 22, 2, NULL, 801, NULL);
INSERT INTO error_ (id, call, ts, ts_last, thread, fn, caller, code, name, args, n) VALUES
 (20, 21, 9700300000, 9700300000, 1, 1, NULL, 2, 'hipErrorOutOfMemory', '{"size":99}', 1),
 (21, 20, 9700400000, 9700400000, 1, 20, 1, 2, 'CUDA_ERROR_OUT_OF_MEMORY', '{"bytesize":99}', 1),
 (22, 22, 9800003000, 9800003000, 1, 22, 2, 801, 'CUDA_ERROR_NOT_SUPPORTED', '{"bytesize":4096}', 1),
 (23, 23, 9810003000, 9820000000, 1, 22, 2, 801, 'CUDA_ERROR_NOT_SUPPORTED', '{"bytesize":4096}', 4);
INSERT INTO call_stat_ (thread, fn, parent_fn, n, errors, total, self, min, max, hist, leaves) VALUES
 (1, 20, 0, 3, 1, 900000, 300000, 200000, 400000, x'1603', 0),
 (1, 1, 20, 3, 1, 600000, 600000, 200000, 200000, x'1403', 3),
 (1, 21, 0, 10, 0, 50000, 30000, 1000, 9000, x'050a', 6), (1, 23, 21, 4, 0, 20000, 20000, 5000, 5000, x'0a04', 4),
 (1, 22, 0, 5, 5, 15000, 15000, 3000, 3000, x'0805', 5);
