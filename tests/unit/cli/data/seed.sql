-- A small recording: a Python program with one child, two threads, launches, copies, allocations, errors, an override.
INSERT INTO meta_ VALUES ('fade_version', '0.1.0'), ('sqlite_version', '3.40.1');
INSERT INTO session_ (id, kind, start_ns, end_ns, boot_ns, host, kernel,
                      boot_id, cwd, command, fade_version, options, detail, clean)
VALUES (1, 'run', 1700000000000000000, 1700000010000000000, 5000000000, 'box', '6.1.0-38-amd64',
        'b00t', '/home/ada', 'python3 train.py --epochs 2', '0.1.0', '--set device.0.warpSize=32', 'calls', 1);
INSERT INTO process_ (id, session, parent, pid, ppid, uid, start_ticks, ts,
                      ts_end, exe, command, env, exit_code, exit_signal) VALUES
 (1, 1, NULL, 4242, 4200, 1000, 99, 0, 9900000000, '/usr/bin/python3.11',
  'python3 train.py --epochs 2', '{"HIP_VISIBLE_DEVICES":"0"}', 0, 0),
 (2, 1, 1, 4250, 4242, 1000, 120, 3000000000, 4000000000, '/usr/bin/uname', 'uname -p', NULL, -1, 9);
INSERT INTO thread_ VALUES (1, 1, 4242, 'python3', 0, 9900000000), (2, 1, 4244, 'loader', 1000000000, NULL),
    (3, 2, 4250, NULL, 3000000000, 4000000000);
INSERT INTO module_ (id, process, path, soname, build_id, role, version, base, size, sites, ts, ts_end) VALUES
 (1, 1, '/usr/bin/python3.11', '', 'aa11', 'program', '', 4194304, 6000000, 0, 0, NULL),
 (2, 1, '/opt/rocm/lib/libamdhip64.so.6', 'libamdhip64.so.6', 'bb22', 'hip',
  '6.4.43484', 139637976727552, 25000000, 480, 200000000, 9800000000);
INSERT INTO module_ (id, process, path, soname, build_id, role, version, base, size, sites, ts, ts_end) VALUES
 (13, 1, '/venv/torch/lib/libtorch_hip.so', 'libtorch_hip.so', 'cc33', '',
  '', 139637900000000, 90000000, 0, 300000000, NULL),
 (14, 1, '/venv/torch/lib/libamdhip64.so', 'libamdhip64.so.7', 'dd44', 'hip',
  '', 139638000000000, 26000000, 500, 300000000, NULL);
INSERT INTO origin_ VALUES (1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (2, 0, 'libamdhip64', 'rocm', '6.4.43484', '6.4', 'system', 1, NULL, NULL, NULL),
 (13, 0, NULL, NULL, NULL, NULL, 'dlopen', NULL, '$ORIGIN', NULL, NULL),
 (14, 0, 'libamdhip64', 'rocm', NULL, '7.0', 'RPATH', 13, NULL, NULL, '/opt/rocm/lib/libamdhip64.so.6.4.43484');
INSERT INTO binding_ VALUES
 (1, 'hip', 0, 2, 2, 'hipFree, hipMalloc', 250000000), (1, 'hip', 1, 0, 1, 'hipDeviceReset', 250000000),
 (13, 'hip', 0, 14, 3, 'hipFree, hipLaunchKernel, hipMalloc', 400000000),
 (13, 'roctx', 2, 0, 1, 'roctxMarkA', 400000000);
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES
 (1, 1, 'hipMalloc', 'hip', 'memory', 'alloc', '/opt/rocm/lib/libamdhip64.so.6', 'ptr,size', 'hipError_t', 0),
 (2, 1, 'hipFree', 'hip', 'memory', 'free', '/opt/rocm/lib/libamdhip64.so.6', 'ptr', 'hipError_t', 0),
 (3, 1, 'hipMemcpy', 'hip', 'copy', 'copy', '/opt/rocm/lib/libamdhip64.so.6',
  'dst,src,sizeBytes,kind', 'hipError_t', 0),
 (4, 1, 'hipLaunchKernel', 'hip', 'launch', 'launch', '/opt/rocm/lib/libamdhip64.so.6', '', 'hipError_t', 0),
 (5, 1, 'hipDeviceSynchronize', 'hip', 'sync', 'sync', '/opt/rocm/lib/libamdhip64.so.6', '', 'hipError_t', 0),
 (6, 1, 'hiprtcCompileProgram', 'hiprtc', 'module', 'other', '/opt/rocm/lib/libamdhip64.so.6',
  'prog,numOptions,options', 'hiprtcResult', 0),
 (7, 1, 'hipModuleLoadData', 'hip', 'module', 'module_load', '/opt/rocm/lib/libamdhip64.so.6',
  'module,image', 'hipError_t', 0),
 (8, 1, 'hipGetDevicePropertiesR0600', 'hip', 'device', 'device_query', '/opt/rocm/lib/libamdhip64.so.6',
  'prop,deviceId', 'hipError_t', 0);
INSERT INTO call_site_ VALUES (1, 1, '/usr/lib/libtorch_hip.so', 4660, 'c10::hip::HIPCachingAllocator::malloc+0x12',
                               140000000004660), (2, 1, '/usr/lib/libtorch_hip.so', 8192, NULL, 140000000008192),
 (3, 1, NULL, NULL, NULL, 140737488355328);
INSERT INTO result_name_ VALUES (1, 2, 'hipErrorOutOfMemory', 1), (3, 1, 'hipErrorInvalidValue', 1);
INSERT INTO kernel_ (id, session, name, demangled, library, first_call) VALUES
 (1, 1, '_Z3addPfS_i', 'add(float*, float*, int)', '/home/ada/a.so', 5),
 (2, 1, '_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi',
  'void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1> >(int, '
  || 'at::native::FillFunctor<float>, std::array<char*, 1>)', '/usr/lib/libtorch_hip.so', 6);
INSERT INTO geometry_ VALUES (1, 128, 1, 1, 256, 1, 1, 0), (2, 64, 2, 1, 32, 8, 1, 2048);
INSERT INTO device_ VALUES (1, 1, 0, 'AMD Radeon RX 6800 XT', 'gfx1030', '0000:03:00.0', 'GPU-1234', 17163091968),
    (2, 1, 1, 'AMD Radeon Graphics', 'gfx1036', '0000:0d:00.0', NULL, 536870912);
INSERT INTO stream_ (id, process, handle, device, ts, ts_end, launches, copies, syncs)
  VALUES (1, 1, 0, 1, 300000000, NULL, 2, 1, 0), (2, 1, 94038210, 1, 500000000, 9000000000, 1, 0, 3);
INSERT INTO launch_ (id, kernel, geometry, stream, captured) VALUES (1, 1, 1, 1, 0), (2, 2, 2, 2, 0);
UPDATE stream_ SET created = 1, flags = 1, priority = -1 WHERE id = 2;
INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES
 (1, 250000000, 90000, 1, 8, 1, NULL, NULL, NULL), (2, 300000000, 150000, 1, 1, 1, NULL, NULL, NULL),
 (3, 400000000, 30000, 1, 1, 1, NULL, 2, NULL),
 (4, 500000000, 2000000, 1, 3, 2, NULL, NULL, NULL), (5, 600000000, 12000, 1, 4, 3, NULL, NULL, 1),
 (6, 1600000000, 9000, 2, 4, 2, NULL, NULL, 2),
 (7, 1700000000, 300000000, 1, 6, 3, NULL, NULL, NULL), (8, 1750000000, 90000000, 1, 7, NULL, 1, NULL, NULL),
 (9, 2500000000, 7000, 2, 3, 2, NULL, 1, NULL),
 (10, 3000000000, 8000, 1, 4, 3, NULL, NULL, 1), (11, 9000000000, 5000, 1, 2, 1, NULL, NULL, NULL),
 (12, 9500000000, NULL, 1, 5, 2, NULL, NULL, NULL),
 (13, 9600000000, NULL, 2, 5, 2, NULL, NULL, NULL);
INSERT INTO unwound_ VALUES (13, 9700000000);
INSERT INTO arg_ VALUES (2, '{"ptr":"0x7f0000001000","size":1048576}'), (3, '{"ptr":"0x0","size":99999999999}'),
    (9, '{"dst":"0x0","src":"0x10","sizeBytes":4,"kind":"hipMemcpyHostToDevice"}');
INSERT INTO copy_ VALUES (4, 1, 8388608, 140000000000000, 139637976727552, 1, 2), (9, 1, 4, 16, 0, NULL, 1);
INSERT INTO copy_size_ VALUES (1, 3, 1, 2, 24, 1, 8388608, 8388608, 2000000), (1, 3, 1, 1, 3, 7, 28, 4, 49000);
INSERT INTO alloc_ VALUES (1, 0, 1, 139637976727552, 1048576, 300000000, 9000000000, 2, 11, 1, 1),
    (2, 0, 1, 139637977776128, 4194304, 350000000, NULL, 2, NULL, 1, 1),
    (3, 1, 1, 139637981970432, 65536, 360000000, NULL, 2, NULL, 1, 1);
INSERT INTO mem_holder_ VALUES (1, 0, '*', 4194304, 5242880, 350000000, 2, 1, 5242880),
    (1, 0, '/usr/lib/libtorch_hip.so', 4194304, 5242880, 350000000, 2, 1, 5242880),
    (1, 1, '*', 65536, 65536, 360000000, 1, 0, 65536),
 (1, 1, '', 65536, 65536, 360000000, 1, 0, 65536);
INSERT INTO device_prop_ VALUES (1, 1, 'multiProcessorCount', '36', 'api:hipGetDevicePropertiesR0600', 1, 250000000),
    (2, 1, 'warpSize', '32', 'api:hipGetDevicePropertiesR0600', 1, 250000000),
 (3, 1, 'multiProcessorCount', '72', 'override:hipGetDevicePropertiesR0600', 1, 250000000);
INSERT INTO kfd_topology_ VALUES (1, '/sys', NULL);
INSERT INTO kfd_node_ (id, session, node, gpu, name, problem, arch, pci, uuid, gpu_id, cpu_cores, simd_count,
                       simd_per_cu, compute_units, wave_size, vendor_id,
                       device_id, revision, memory, memory_bits, memory_mhz, max_mhz, xccs, render_minor) VALUES
 (1, 1, 0, 0, 'AMD Ryzen 7 5800X 8-Core Processor', NULL, NULL, NULL, NULL,
  0, 16, 0, 0, NULL, 0, 0, 0, NULL, 33562451968, 64, 3200, NULL, NULL, 0),
 (2, 1, 1, 1, 'navi21', NULL, 'gfx1030', '0000:03:00.0', 'GPU-1234', 18467,
  0, 144, 2, 72, 32, 4098, 29631, 193, 17163091968, 256, 1000, 2575, 1, 128),
 (3, 1, 2, 1, 'evil ' || char(27) || '[31m', 'its properties are empty',
  NULL, NULL, NULL, 4711, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO gpu_ VALUES (1, 'Radeon RX 6800 XT', 'Navi 21', 'gfx1030', 72, 16384, 0, 256, 2250, 4096, 131072, 32),
    (2, 'Radeon RX 6800', 'Navi 21', 'gfx1030', 60, 16384, 0, 256, 2105, 4096, 131072, 32);
INSERT INTO gpu_pci_ VALUES (29631, 193, 1), (29631, 195, 2);
INSERT INTO override_ VALUES (1, 1, 'device.0.multiProcessorCount=72', 'device.0.multiProcessorCount', '72', '--set'),
    (2, 1, 'device.1.warpSize=64', 'device.1.warpSize', '64', 'rules.fade:3');
INSERT INTO override_hit_ (id, rule, call, thread, caller, ts, ts_last, device, target, was, became, n)
  VALUES (1, 1, 1, 1, 1, 250000000, 260000000, 0, 'hipDeviceProp_t.multiProcessorCount', '36', '72', 2);
INSERT INTO lifecycle_ (id, session, ts, process, thread, kind, value, detail) VALUES (1, 1, 0, 1,
        1, 'exec', 0, '/usr/bin/python3.11'), (2, 1, 200000000, 1, 1, 'dlopen', 480, '/opt/rocm/lib/libamdhip64.so.6'),
 (3, 1, 3000000000, 2, 3, 'unwatched', 0, 'set-user-id program runs on unwatched'),
 (4, 1, 4000000000, 2, 3, 'signal', 9, 'evil ' || char(27) || '[31mname' || char(10) || 'x' || char(9) || 'y');
INSERT INTO error_ (id, call, ts, ts_last, thread, fn, caller, code, name, args, n)
  VALUES (1, 3, 400000000, 400000000, 1, 1, 1, 2, 'hipErrorOutOfMemory', '{"ptr":"0x0","size":99999999999}', 1),
 (2, 9, 2500000000, 2900000000, 2, 3, 2, 1, 'hipErrorInvalidValue', '{"sizeBytes":4}', 7);
INSERT INTO drop_ VALUES (1, 1, 5000000000, 200000000, 12, 'the disk was full');
INSERT INTO call_stat_ (thread, fn, parent_fn, n, errors, total, self, min, max, hist) VALUES
 (1, 8, 0, 1, 0, 90000, 90000, 90000, 90000, x'1201'), (1, 1, 0, 2, 1, 180000, 180000, 30000, 150000, x'0f011401'),
 (1, 3, 0, 1, 0, 2000000, 2000000, 2000000, 2000000, x'1b01'),
 (1, 4, 0, 2, 0, 20000, 20000, 8000, 12000, x'0b010c01'), (2, 4, 0, 1, 0, 9000, 9000, 9000, 9000, x'0c01'),
 (1, 6, 0, 1, 0, 300000000, 210000000, 300000000, 300000000, x'2a01'),
 (1, 7, 6, 1, 0, 90000000, 90000000, 90000000, 90000000, x'2601'), (2, 3, 0, 7, 7, 49000, 49000, 7000, 7000, x'0b07'),
 (1, 2, 0, 1, 0, 5000, 5000, 5000, 5000, x'0a01');
INSERT INTO call_bucket_ VALUES (0, 8, 1, 90000, 1), (0, 1, 2, 180000, 2), (0, 3, 1, 2000000, 4), (0, 4, 1, 12000, 5),
    (1, 4, 1, 9000, 6), (1, 6, 1, 300000000, 7), (1, 7, 1, 90000000, 8),
    (2, 3, 7, 49000, 9), (3, 4, 1, 8000, 10), (9, 2, 1, 5000, 11);
INSERT INTO mem_bucket_ VALUES (300, 1, 0, 1048576, 1048576, 1, 0), (350, 1, 0, 5242880, 5242880, 1, 0),
    (360, 1, 1, 65536, 65536, 1, 0), (9000, 1, 0, 4194304, 5242880, 0, 1);
INSERT INTO mem_stat_ VALUES (1, 0, 4194304, 5242880, 350000000, 2, 1, 5242880, 0),
    (1, 1, 65536, 65536, 360000000, 1, 0, 65536, 0);
INSERT INTO kernel_stat_ VALUES (1, 1, 2, 0, 20000, 12000, 600000000, 3000000000),
    (2, 2, 1, 0, 9000, 9000, 1600000000, 1600000000);
INSERT INTO copy_stat_ VALUES (1, 3, 1, 8, 8388636, 8388608, 7, 2049000);
INSERT INTO process_use_ VALUES (1, 0, 5, 1, 1, 0, 600000000, 600000000), (1, 1, 3, 0, 1, 0, 1600000000, 1600000000),
    (1, 2, 7, 7, 0, 0, NULL, NULL), (1, 3, 1, 0, 1, 0, 3000000000, 3000000000), (1, 9, 1, 0, 0, 0, NULL, NULL);
INSERT INTO cpu_sample_ VALUES (1, 1000000000, 900000000), (1, 2000000000, 1800000000), (1, 8000000000, 6500000000);
INSERT INTO overhead_ VALUES (1, 0, 40, 800000), (1, 1, 4, 60000), (1, 4, 6, 90000);
INSERT INTO doc_ VALUES ('top', '', '', '', 'Functions by time'), ('top', 'name', 'TEXT', '', 'function'),
    ('top', 'calls', 'INTEGER', '', 'how often'), ('drops', '', '', '', 'What was not recorded');
INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success) VALUES (9, 1,
        'hipSetDevice', 'hip', 'device', 'set_device', '/opt/rocm/lib/libamdhip64.so.6', 'deviceId', 'hipError_t', 0);
INSERT INTO thread_device_ VALUES (1, 4, 1), (2, 9, 0);
-- A graph of both kernels, launched ten times, and what the code of the first one says.
INSERT INTO graph_ (id, process, handle, ts, kernels, complete, launches, errors, launch_ns, max_ns, first_ts, last_ts)
  VALUES
 (1, 1, 94038999, 6000000000, 3, 1, 10, 0, 90000, 20000, 6100000000, 6900000000);
INSERT INTO graph_kernel_ VALUES (1, 1, 1, 2), (1, 2, 2, 1);
INSERT INTO kernel_code_ VALUES (1, 'gfx1030', 24, NULL, 16, 0, 0, 4096, 0, 24, 32, 1024, 1, 0, NULL),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'compressed');
