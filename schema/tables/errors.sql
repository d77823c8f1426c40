-- Failed calls, and what results mean.

-- The first errors of each (fn, code, caller) have a row each; later errors add up in n and ts_last of one more row.
CREATE TABLE error_ (
  id INTEGER PRIMARY KEY, call INTEGER NOT NULL, ts INTEGER NOT NULL, ts_last INTEGER NOT NULL, thread INTEGER NOT NULL,
  fn INTEGER NOT NULL, caller INTEGER, code INTEGER NOT NULL, name TEXT, args TEXT, n INTEGER NOT NULL) STRICT;

-- The meaning of results, for functions whose name matches the GLOB pattern; the longest matching pattern counts.
-- class: normal (an answer, not a failure), sticky (nothing works on this device from then on), binary, device, memory
-- (the reason why work cannot run), or other. Results that .probes files mark as fine (@ok) never become an error_ row.
CREATE TABLE result_rule_ (
  function TEXT NOT NULL, code INTEGER NOT NULL, class TEXT NOT NULL, meaning TEXT NOT NULL, advice TEXT,
  PRIMARY KEY (function, code)) STRICT, WITHOUT ROWID;
INSERT INTO result_rule_ VALUES
('hip[A-Z]*', 600, 'normal', 'the work is not done yet', NULL),
('hipPointerGetAttribute*', 1, 'normal',
 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s', NULL),
('hipMemPtrGetInfo', 1, 'normal', 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s',
 NULL),
('hipHostGetFlags', 1, 'normal', 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s',
 NULL),
('hipHostGetDevicePointer', 1, 'normal',
 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s', NULL),
('hipDeviceGetAttribute', 1, 'normal',
 'this library or device does not know the attribute: how programs ask what there is', NULL),
('hipDeviceGetAttribute', 801, 'normal', 'this device does not have the attribute: how programs ask what there is',
 NULL),
('hipDeviceGetP2PAttribute', 1, 'normal', 'how programs ask which devices reach each other', NULL),
('hipDeviceEnablePeerAccess', 704, 'normal', 'peer access was enabled already', NULL),
('hipDeviceDisablePeerAccess', 705, 'normal', 'peer access was not enabled', NULL),
('hipHostRegister', 712, 'normal', 'the memory was registered already', NULL),
('hipHostUnregister', 713, 'normal', 'the memory was not registered', NULL),
('hipGetProcAddress', 500, 'normal', 'this library has no such function: how programs ask what there is', NULL),
('hipModuleGetGlobal', 500, 'normal', 'the module has no such variable: how programs ask what there is', NULL),
('hipModuleGetFunction', 500, 'other', 'the module has no kernel of that name',
 'Look at the name in its arguments; a kernel cache from another version of the program is the usual cause.'),
('hip[A-Z]*', 2, 'memory', 'the device has not enough free memory',
 'fade-query oom shows who held it; use smaller batches, or free what other programs hold.'),
('hip[A-Z]*', 3, 'device', 'the driver or the HIP runtime could not start',
 'Look at the GPU with rocminfo as the same user; check the amdgpu driver and the permissions of /dev/kfd.'),
('hip[A-Z]*', 35, 'device', 'the kernel driver is too old for this HIP library',
 'Update the amdgpu driver, or use a HIP library that it knows.'),
('hip[A-Z]*', 98, 'binary', 'the program has no code for this kernel on this device',
 'Build for the gfx name that fade-query devices shows (--offload-arch), or use a build that supports this GPU.'),
('hip[A-Z]*', 100, 'device', 'HIP sees no GPU',
 'Look at the GPU with rocminfo as the same user; check /dev/kfd, /dev/dri and the variables that hide devices.'),
('hip[A-Z]*', 101, 'device', 'there is no device of that number',
 'Fewer devices are visible than the program expects: look at HIP_VISIBLE_DEVICES and fade-query devices.'),
('hip[A-Z]*', 200, 'binary', 'the code object is damaged, or of a format this library does not know',
 'Build with the ROCm version that is loaded (fade-query modules).'),
('hip[A-Z]*', 209, 'binary', 'there is no code object for this GPU',
 'Build for the gfx name that fade-query devices shows (--offload-arch), or use a build that supports this GPU.'),
('hip[A-Z]*', 218, 'binary', 'the kernel file is not valid',
 'Build with the ROCm version that is loaded (fade-query modules).'),
('hip[A-Z]*', 300, 'binary', 'the source or code object is not valid for this GPU',
 'Build for the gfx name that fade-query devices shows (--offload-arch).'),
('hip[A-Z]*', 302, 'binary', 'a library of kernels lacks a symbol',
 'ROCm libraries of different versions are mixed: compare the paths in fade-query modules.'),
('hip[A-Z]*', 303, 'binary', 'a library of kernels could not be set up',
 'ROCm libraries of different versions are mixed, or have no code for this GPU: compare the paths in fade-query '
 || 'modules.'),
('hip[A-Z]*', 214, 'sticky', 'the GPU''s memory had an error that could not be corrected',
 'Restart the program; if it comes back, look at dmesg: the hardware may be failing.'),
('hip[A-Z]*', 700, 'sticky', 'a kernel used an address that is not its own',
 'Run again with AMD_SERIALIZE_KERNEL=3, so that the failing launch is the last one before the error.'),
('hip[A-Z]*', 702, 'sticky', 'a kernel ran too long and was ended',
 'Look at dmesg for a GPU reset; give the kernel less work at once.'),
('hip[A-Z]*', 709, 'sticky', 'the device''s context is gone',
 'An earlier error or hipDeviceReset ended it: look at the errors before.'),
('hip[A-Z]*', 710, 'sticky', 'an assert() in a kernel failed',
 'The kernel printed which one on standard output or standard error.'),
('hip[A-Z]*', 719, 'sticky', 'a kernel failed while it ran',
 'Run again with AMD_SERIALIZE_KERNEL=3, so that the failing launch is the last one before the error; look at dmesg.'),
('hip[A-Z]*', 701, 'other', 'the launch asks for more registers, threads or shared memory than there are',
 'Use smaller blocks; fade-query launches shows what was asked for.'),
('hip[A-Z]*', 720, 'other', 'a cooperative launch has more blocks than fit on the device at once',
 'If a multiprocessor count was raised with --set, the device has not grown with it.'),
('hip[A-Z]*', 801, 'other', 'this library or device does not offer that function', NULL);

-- CUDA's numbers are the same if HIP took them over.
INSERT INTO result_rule_
SELECT 'cu[A-Z]*', code, class, meaning, advice
FROM result_rule_
WHERE function = 'hip[A-Z]*'
  AND code IN (2, 3, 100, 101, 200, 209, 214, 300, 302, 303, 600, 700, 701, 702, 709, 710, 719, 720, 801);
INSERT INTO result_rule_ VALUES
('nvml[A-Z]*', 3, 'normal', 'this NVML, or its stand-in, does not answer that question', NULL),
('nvml[A-Z]*', 6, 'normal', 'there is no such device or object: how programs ask what there is', NULL),
('nvml[A-Z]*', 7, 'normal', 'the buffer is too small: how programs ask how much there is', NULL),
('nvml[A-Z]*', 9, 'other', 'NVML found no driver it knows',
 'This is about NVIDIA''s management library, not about HIP: fade-query verdict says whether the GPU was used.');
