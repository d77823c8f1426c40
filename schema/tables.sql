-- fade event store, schema version 4: the private tables. Needs SQLite >= 3.37 (STRICT).
-- Tables end in _ and may change with any version; the views (views.sql) are the interface.
-- Times are nanoseconds since the start of the session (session_.start_ns). No indexes while recording.
PRAGMA application_id = 0x46414445;   -- 'FADE', shown by file(1)
PRAGMA user_version   = 4;

CREATE TABLE meta_ (key TEXT PRIMARY KEY, value TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE doc_  (view TEXT NOT NULL, "column" TEXT NOT NULL, type TEXT NOT NULL, unit TEXT NOT NULL, text TEXT NOT NULL,
                    PRIMARY KEY (view, "column")) STRICT, WITHOUT ROWID;   -- column '': the view itself

-- ---------------------------------------------------------------- dictionaries
-- clean: 1 once the recording was closed in order. start_ns, end_ns: CLOCK_REALTIME; boot_ns: CLOCK_BOOTTIME of the same moment.
CREATE TABLE session_ (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER, boot_ns INTEGER NOT NULL,
                       host TEXT, kernel TEXT, boot_id TEXT, cwd TEXT, command TEXT, fade_version TEXT, options TEXT,
                       detail TEXT, last_call INTEGER NOT NULL DEFAULT 0, clean INTEGER NOT NULL DEFAULT 0) STRICT;   -- last_call: highest call id used
-- exe, command, env: of the newest program (exec). env: JSON object of the variables that may be stored.
CREATE TABLE process_ (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, parent INTEGER, pid INTEGER NOT NULL, ppid INTEGER, uid INTEGER,
                       start_ticks INTEGER, ts INTEGER NOT NULL, ts_end INTEGER, exe TEXT, command TEXT, env TEXT,
                       exit_code INTEGER, exit_signal INTEGER) STRICT;
CREATE TABLE thread_  (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, tid INTEGER NOT NULL, name TEXT, ts INTEGER NOT NULL, ts_end INTEGER) STRICT;
CREATE TABLE module_  (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, path TEXT NOT NULL, soname TEXT, build_id TEXT, role TEXT, version TEXT,
                       base INTEGER, size INTEGER, sites INTEGER NOT NULL, ts INTEGER NOT NULL, ts_end INTEGER) STRICT;
-- One name in one library file. arg_names: comma separated. success: the result that means success, NULL if every
-- result is fine.
CREATE TABLE function_(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, name TEXT NOT NULL, api TEXT NOT NULL, grp TEXT NOT NULL, kind TEXT NOT NULL,
                       library TEXT, arg_names TEXT, result_type TEXT, success INTEGER) STRICT;
-- The places that call. symbol: enclosing function +offset; offset counts from the library's load address.
CREATE TABLE call_site_(id INTEGER PRIMARY KEY, process INTEGER NOT NULL, library TEXT, offset INTEGER, symbol TEXT, address INTEGER) STRICT;
-- The names of results other than 0.
CREATE TABLE result_name_(fn INTEGER NOT NULL, code INTEGER NOT NULL, name TEXT NOT NULL, failed INTEGER NOT NULL, PRIMARY KEY (fn, code)) STRICT, WITHOUT ROWID;
CREATE TABLE kernel_  (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, name TEXT NOT NULL, demangled TEXT, library TEXT, first_call INTEGER) STRICT;
-- Grid in work-groups, block in work-items.
CREATE TABLE geometry_(id INTEGER PRIMARY KEY, gx INTEGER, gy INTEGER, gz INTEGER, bx INTEGER, by INTEGER, bz INTEGER, shared INTEGER) STRICT;
CREATE TABLE stream_  (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, handle INTEGER NOT NULL, device INTEGER, ts INTEGER NOT NULL, ts_end INTEGER,
                       launches INTEGER NOT NULL DEFAULT 0, copies INTEGER NOT NULL DEFAULT 0, syncs INTEGER NOT NULL DEFAULT 0,
                       thread INTEGER, created INTEGER NOT NULL DEFAULT 0, flags INTEGER, priority INTEGER, cu_mask TEXT) STRICT;   -- thread: of the per-thread default stream (2)
-- One row for each distinct launch of a kernel; calls refer to it. captured: it went into a graph instead of running.
CREATE TABLE launch_  (id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL, geometry INTEGER NOT NULL, stream INTEGER, captured INTEGER NOT NULL) STRICT;
-- A device in the numbering of one process.
CREATE TABLE device_  (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, ordinal INTEGER NOT NULL, name TEXT, arch TEXT, pci TEXT, uuid TEXT, total_memory INTEGER) STRICT;

-- ---------------------------------------------------------------- events
-- id: assigned at entry, so in order of entry. dur NULL: never returned (see unwound_). up: id - id of the enclosing
-- call. result NULL: 0, or no result. The id is the last column, because SQLite then appends rows with fewer steps
-- (batch_table.hpp). Only fade's writer puts rows into this table and copy_, and all values are integers: SQLite need
-- not check each value (STRICT, NOT NULL).
CREATE TABLE call_    (ts INTEGER, dur INTEGER, thread INTEGER, fn INTEGER, caller INTEGER,
                       up INTEGER, result INTEGER, launch INTEGER, id INTEGER PRIMARY KEY);
-- Calls without a known duration. ts_end: the call was left by an exception, longjmp, cancellation or the end of the
-- thread, noticed at that time. NULL: its return could not be watched; -1: recorded at its entry alone, by the
-- function's .probes line (@entry_only).
CREATE TABLE unwound_ (call INTEGER PRIMARY KEY, ts_end INTEGER) STRICT;
CREATE TABLE arg_     (call INTEGER PRIMARY KEY, args TEXT NOT NULL) STRICT;   -- JSON object
-- Arguments of calls that have no row in arg_: n calls of one function from first to last, packed (probes/call_block.hpp).
CREATE TABLE arg_block_(id INTEGER PRIMARY KEY, fn INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, n INTEGER NOT NULL,
                       data BLOB NOT NULL) STRICT;
CREATE TABLE arg_signature_(fn INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;   -- the function's parameters (probes/signature.hpp)
-- In the order of returns; no key, because SQLite would search each row's place. kind: hipMemcpyKind, or -1 for fills
-- (memset). memory: of the host's side: 1 pageable as far as fade saw, 2 pinned, 3 managed; NULL: no such side, or
-- unknown.
CREATE TABLE copy_    (call INTEGER, kind INTEGER, bytes INTEGER, src INTEGER, dst INTEGER, stream INTEGER, memory INTEGER);
-- Written when freed, or at the end while still live (ts_end NULL). kind: memory_kind_.id. caller: of the outermost
-- watched call around it. bytes NULL: unknown, for memory of other processes. call, fn, caller for memory of a graph:
-- the call that put the allocation into the graph.
CREATE TABLE alloc_   (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, device INTEGER NOT NULL, addr INTEGER NOT NULL, bytes INTEGER,
                       ts INTEGER NOT NULL, ts_end INTEGER, call INTEGER NOT NULL, call_end INTEGER, fn INTEGER, caller INTEGER) STRICT;
-- Memory of another process in this recording: the owner, and its address there.
CREATE TABLE alloc_owner_(alloc INTEGER PRIMARY KEY, process INTEGER NOT NULL, addr INTEGER NOT NULL) STRICT;
-- A row for each change of a value that the runtime returned. source: 'api:SYMBOL', or 'override:SYMBOL' for the
-- replaced value.
CREATE TABLE device_prop_(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, name TEXT NOT NULL, value TEXT, source TEXT NOT NULL, call INTEGER, ts INTEGER NOT NULL) STRICT;
CREATE TABLE override_(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, spec TEXT NOT NULL, target TEXT NOT NULL, value TEXT, origin TEXT) STRICT;
-- Equal hits (same rule, thread, caller, device, target, was, became) add up in n; call and ts are of the first hit.
CREATE TABLE override_hit_(id INTEGER PRIMARY KEY, rule INTEGER NOT NULL, call INTEGER, thread INTEGER, caller INTEGER, ts INTEGER NOT NULL, ts_last INTEGER NOT NULL,
                       device INTEGER, target TEXT NOT NULL, was TEXT, became TEXT, n INTEGER NOT NULL) STRICT;
CREATE TABLE lifecycle_(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ts INTEGER NOT NULL, process INTEGER, thread INTEGER, kind TEXT NOT NULL, value INTEGER, detail TEXT) STRICT;
-- The first errors of each (fn, code, caller) have a row each; later errors add up in n and ts_last of one more row.
CREATE TABLE error_   (id INTEGER PRIMARY KEY, call INTEGER NOT NULL, ts INTEGER NOT NULL, ts_last INTEGER NOT NULL, thread INTEGER NOT NULL, fn INTEGER NOT NULL,
                       caller INTEGER, code INTEGER NOT NULL, name TEXT, args TEXT, n INTEGER NOT NULL) STRICT;
CREATE TABLE drop_    (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, n INTEGER NOT NULL, reason TEXT NOT NULL) STRICT;

-- ---------------------------------------------------------------- rollups: kept in memory, added here every second
-- All durations of rollups exclude fade's own cost as measured (call_cost_), so a sum may be below 0. call_.dur is the
-- raw measurement. cost: of call_stat_, was subtracted from total; total + cost is the raw sum. parent_fn 0: called
-- from outside any watched call. self: total without watched calls inside. leaves: calls without any inside. hist:
-- numbers of calls by duration, a sequence of pairs of LEB128 numbers (bucket, calls), buckets ascending; bucket b
-- begins at (2 + b % 2) << (6 + b / 2) ns, bucket 0 at 0.
CREATE TABLE call_stat_ (thread INTEGER NOT NULL, fn INTEGER NOT NULL, parent_fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL,
                         total INTEGER NOT NULL, self INTEGER NOT NULL, min INTEGER, max INTEGER, hist BLOB, leaves INTEGER NOT NULL DEFAULT 0,
                         cost INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (thread, fn, parent_fn)) STRICT, WITHOUT ROWID;
-- The cost of a call and a stop on this machine, measured when the session began, for each form of entry: jump or int3.
-- calls 0: no measurement; problem is the reason. call: within each duration. stop: of each stop, beyond the time for
-- which fade held the thread. Spread: four of five samples lie within median +- spread.
CREATE TABLE call_cost_ (session INTEGER NOT NULL, form TEXT NOT NULL, calls INTEGER NOT NULL, call_ns INTEGER NOT NULL, call_spread INTEGER NOT NULL, stop_ns INTEGER NOT NULL,
                         stop_spread INTEGER NOT NULL, problem TEXT, PRIMARY KEY (session, form)) STRICT, WITHOUT ROWID;
-- The cost of breakpoint stops for each thread.
CREATE TABLE thread_cost_ (thread INTEGER PRIMARY KEY, stops INTEGER NOT NULL, held_ns INTEGER NOT NULL) STRICT;
-- first_call: ids are in order of time, so a range of time is a range of ids.
CREATE TABLE call_bucket_(sec INTEGER NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, total INTEGER NOT NULL, first_call INTEGER NOT NULL, PRIMARY KEY (sec, fn)) STRICT, WITHOUT ROWID;
CREATE TABLE mem_bucket_(ms INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL, used INTEGER NOT NULL, peak INTEGER NOT NULL,
                         allocs INTEGER NOT NULL, frees INTEGER NOT NULL, PRIMARY KEY (ms, device, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE mem_stat_  (device INTEGER NOT NULL, kind INTEGER NOT NULL, used INTEGER NOT NULL, peak INTEGER NOT NULL, peak_ts INTEGER NOT NULL, allocs INTEGER NOT NULL,
                         frees INTEGER NOT NULL, bytes INTEGER NOT NULL, unknown_frees INTEGER NOT NULL, PRIMARY KEY (device, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE kernel_stat_(kernel INTEGER NOT NULL, geometry INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL, launch_ns INTEGER NOT NULL, max_ns INTEGER NOT NULL,
                         first_ts INTEGER NOT NULL, last_ts INTEGER NOT NULL, PRIMARY KEY (kernel, geometry)) STRICT, WITHOUT ROWID;
CREATE TABLE copy_stat_ (process INTEGER NOT NULL, fn INTEGER NOT NULL, kind INTEGER NOT NULL, n INTEGER NOT NULL, bytes INTEGER NOT NULL, max_bytes INTEGER NOT NULL,
                         small INTEGER NOT NULL, host_ns INTEGER NOT NULL, PRIMARY KEY (process, fn, kind)) STRICT, WITHOUT ROWID;   -- small: below 64 KiB
CREATE TABLE overhead_  (session INTEGER NOT NULL, fn INTEGER NOT NULL, stops INTEGER NOT NULL, held_ns INTEGER NOT NULL, PRIMARY KEY (session, fn)) STRICT, WITHOUT ROWID;  -- fn 0: stops that belong to no function

-- ---------------------------------------------------------------- the driver's topology, and the reference table
-- The topology of the driver (KFD) when the session began. problem: the reason for missing nodes.
CREATE TABLE kfd_topology_(session INTEGER PRIMARY KEY, root TEXT NOT NULL, problem TEXT) STRICT;
-- NULL: could not be read. gpu: 0 for CPUs. uuid: GPU-%016x of unique_id. memory: of the GPU, or of the system for a
-- CPU.
CREATE TABLE kfd_node_(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, node INTEGER NOT NULL, gpu INTEGER NOT NULL, name TEXT, problem TEXT, arch TEXT, pci TEXT, uuid TEXT,
                       gpu_id INTEGER, cpu_cores INTEGER, simd_count INTEGER, simd_per_cu INTEGER, compute_units INTEGER, wave_size INTEGER, vendor_id INTEGER,
                       device_id INTEGER, revision INTEGER, memory INTEGER, memory_bits INTEGER, memory_mhz INTEGER, max_mhz INTEGER, xccs INTEGER, render_minor INTEGER) STRICT;
-- Filled from gpus.tsv when the file is made. revision NULL: any.
CREATE TABLE gpu_     (id INTEGER PRIMARY KEY, name TEXT NOT NULL, chip TEXT, arch TEXT, compute_units INTEGER, memory_mib INTEGER, shared_memory INTEGER NOT NULL,
                       memory_bits INTEGER, boost_mhz INTEGER, l2_kib INTEGER, l3_kib INTEGER, wave_size INTEGER) STRICT;
CREATE TABLE gpu_pci_ (device_id INTEGER NOT NULL, revision INTEGER, gpu INTEGER NOT NULL) STRICT;
-- ---------------------------------------------------------------- was the GPU used
-- The calls of a process, for each second in which it called. launches: successful launches, kernels and graphs;
-- first_launch, last_launch: entry of the first and last of these.
CREATE TABLE process_use_(process INTEGER NOT NULL, sec INTEGER NOT NULL, calls INTEGER NOT NULL, errors INTEGER NOT NULL, launches INTEGER NOT NULL,
                          failed_launches INTEGER NOT NULL, first_launch INTEGER, last_launch INTEGER, PRIMARY KEY (process, sec)) STRICT, WITHOUT ROWID;
-- CPU time that a process had used by then, over all its threads: a row a second at first, later at growing intervals.
CREATE TABLE cpu_sample_(process INTEGER NOT NULL, ts INTEGER NOT NULL, cpu_ns INTEGER NOT NULL, PRIMARY KEY (process, ts)) STRICT, WITHOUT ROWID;
-- The meaning of results, for functions whose name matches the GLOB pattern; the longest matching pattern counts.
-- class: normal (an answer, not a failure), sticky (nothing works on this device from then on), binary, device, memory
-- (the reason why work cannot run), or other. Results that .probes files mark as fine (@ok) never become an error_ row.
CREATE TABLE result_rule_(function TEXT NOT NULL, code INTEGER NOT NULL, class TEXT NOT NULL, meaning TEXT NOT NULL, advice TEXT, PRIMARY KEY (function, code)) STRICT, WITHOUT ROWID;
INSERT INTO result_rule_ VALUES
('hip[A-Z]*', 600, 'normal', 'the work is not done yet', NULL),
('hipPointerGetAttribute*', 1, 'normal', 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s', NULL),
('hipMemPtrGetInfo', 1, 'normal', 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s', NULL),
('hipHostGetFlags', 1, 'normal', 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s', NULL),
('hipHostGetDevicePointer', 1, 'normal', 'the pointer is not one of HIP''s: how programs ask whether memory is the host''s', NULL),
('hipDeviceGetAttribute', 1, 'normal', 'this library or device does not know the attribute: how programs ask what there is', NULL),
('hipDeviceGetAttribute', 801, 'normal', 'this device does not have the attribute: how programs ask what there is', NULL),
('hipDeviceGetP2PAttribute', 1, 'normal', 'how programs ask which devices reach each other', NULL),
('hipDeviceEnablePeerAccess', 704, 'normal', 'peer access was enabled already', NULL),
('hipDeviceDisablePeerAccess', 705, 'normal', 'peer access was not enabled', NULL),
('hipHostRegister', 712, 'normal', 'the memory was registered already', NULL),
('hipHostUnregister', 713, 'normal', 'the memory was not registered', NULL),
('hipGetProcAddress', 500, 'normal', 'this library has no such function: how programs ask what there is', NULL),
('hipModuleGetGlobal', 500, 'normal', 'the module has no such variable: how programs ask what there is', NULL),
('hipModuleGetFunction', 500, 'other', 'the module has no kernel of that name', 'Look at the name in its arguments; a kernel cache from another version of the program is the usual cause.'),
('hip[A-Z]*', 2, 'memory', 'the device has not enough free memory', 'fade-query oom shows who held it; use smaller batches, or free what other programs hold.'),
('hip[A-Z]*', 3, 'device', 'the driver or the HIP runtime could not start', 'Look at the GPU with rocminfo as the same user; check the amdgpu driver and the permissions of /dev/kfd.'),
('hip[A-Z]*', 35, 'device', 'the kernel driver is too old for this HIP library', 'Update the amdgpu driver, or use a HIP library that it knows.'),
('hip[A-Z]*', 98, 'binary', 'the program has no code for this kernel on this device', 'Build for the gfx name that fade-query devices shows (--offload-arch), or use a build that supports this GPU.'),
('hip[A-Z]*', 100, 'device', 'HIP sees no GPU', 'Look at the GPU with rocminfo as the same user; check /dev/kfd, /dev/dri and the variables that hide devices.'),
('hip[A-Z]*', 101, 'device', 'there is no device of that number', 'Fewer devices are visible than the program expects: look at HIP_VISIBLE_DEVICES and fade-query devices.'),
('hip[A-Z]*', 200, 'binary', 'the code object is damaged, or of a format this library does not know', 'Build with the ROCm version that is loaded (fade-query modules).'),
('hip[A-Z]*', 209, 'binary', 'there is no code object for this GPU', 'Build for the gfx name that fade-query devices shows (--offload-arch), or use a build that supports this GPU.'),
('hip[A-Z]*', 218, 'binary', 'the kernel file is not valid', 'Build with the ROCm version that is loaded (fade-query modules).'),
('hip[A-Z]*', 300, 'binary', 'the source or code object is not valid for this GPU', 'Build for the gfx name that fade-query devices shows (--offload-arch).'),
('hip[A-Z]*', 302, 'binary', 'a library of kernels lacks a symbol', 'ROCm libraries of different versions are mixed: compare the paths in fade-query modules.'),
('hip[A-Z]*', 303, 'binary', 'a library of kernels could not be set up', 'ROCm libraries of different versions are mixed, or have no code for this GPU: compare the paths in fade-query modules.'),
('hip[A-Z]*', 214, 'sticky', 'the GPU''s memory had an error that could not be corrected', 'Restart the program; if it comes back, look at dmesg: the hardware may be failing.'),
('hip[A-Z]*', 700, 'sticky', 'a kernel used an address that is not its own', 'Run again with AMD_SERIALIZE_KERNEL=3, so that the failing launch is the last one before the error.'),
('hip[A-Z]*', 702, 'sticky', 'a kernel ran too long and was ended', 'Look at dmesg for a GPU reset; give the kernel less work at once.'),
('hip[A-Z]*', 709, 'sticky', 'the device''s context is gone', 'An earlier error or hipDeviceReset ended it: look at the errors before.'),
('hip[A-Z]*', 710, 'sticky', 'an assert() in a kernel failed', 'The kernel printed which one on standard output or standard error.'),
('hip[A-Z]*', 719, 'sticky', 'a kernel failed while it ran', 'Run again with AMD_SERIALIZE_KERNEL=3, so that the failing launch is the last one before the error; look at dmesg.'),
('hip[A-Z]*', 701, 'other', 'the launch asks for more registers, threads or shared memory than there are', 'Use smaller blocks; fade-query launches shows what was asked for.'),
('hip[A-Z]*', 720, 'other', 'a cooperative launch has more blocks than fit on the device at once', 'If a multiprocessor count was raised with --set, the device has not grown with it.'),
('hip[A-Z]*', 801, 'other', 'this library or device does not offer that function', NULL);
-- CUDA's numbers are the same if HIP took them over.
INSERT INTO result_rule_ SELECT 'cu[A-Z]*', code, class, meaning, advice FROM result_rule_
WHERE function = 'hip[A-Z]*' AND code IN (2, 3, 100, 101, 200, 209, 214, 300, 302, 303, 600, 700, 701, 702, 709, 710, 719, 720, 801);

-- The moment when a thread's current device became known or changed: from the end of this call on. Written while calls
-- have rows.
CREATE TABLE thread_device_(thread INTEGER NOT NULL, call INTEGER NOT NULL, device INTEGER NOT NULL, PRIMARY KEY (thread, call)) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- which library answers
-- The loader's rule for a module. rule: LD_PRELOAD, RPATH ...; asker: the module that needs it, or that has the RPATH
-- or RUNPATH. space: 0 is the base namespace. not_taken: other files of that library in the program's variables.
CREATE TABLE origin_  (module INTEGER PRIMARY KEY, space INTEGER NOT NULL, family TEXT, kind TEXT, version TEXT, rocm TEXT, rule TEXT, asker INTEGER,
                       rpath TEXT, runpath TEXT, not_taken TEXT) STRICT;
-- The imports of a module, as last read. state: 0 bound, 1 not called yet (lazy), 2 weak and found nowhere. target:
-- module; 0 if none.
CREATE TABLE binding_ (module INTEGER NOT NULL, api TEXT NOT NULL, state INTEGER NOT NULL, target INTEGER NOT NULL, n INTEGER NOT NULL, names TEXT NOT NULL,
                       ts INTEGER NOT NULL, PRIMARY KEY (module, api, state, target)) STRICT, WITHOUT ROWID;
-- Other names of a function: several exported names may have one address.
CREATE TABLE function_name_(fn INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (fn, name)) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- stacks
-- One place in code. kind: 0 native, 1 Python, 2 frames are missing (name is the reason), 3 native and found by libunwind.
-- offset: from the module's load address.
CREATE TABLE frame_   (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, kind INTEGER NOT NULL, module INTEGER, address INTEGER NOT NULL, offset INTEGER,
                       name TEXT, file TEXT, line INTEGER) STRICT;
-- A stack is one frame on top of another stack. parent NULL: the frame is the outermost.
CREATE TABLE stack_   (id INTEGER PRIMARY KEY, parent INTEGER, frame INTEGER NOT NULL) STRICT;
-- Calls whose stack was taken, at their entry.
CREATE TABLE call_stack_(call INTEGER PRIMARY KEY, stack INTEGER NOT NULL) STRICT;

-- ---------------------------------------------------------------- NVML
-- The answers of NVIDIA's management library, or of a replacement: a row for each change. handle NULL: about no device.
-- nvml_index differs from the numbers of HIP.
CREATE TABLE nvml_answer_(id INTEGER PRIMARY KEY, process INTEGER NOT NULL, handle INTEGER, nvml_index INTEGER, name TEXT NOT NULL, value TEXT, source TEXT NOT NULL,
                          call INTEGER, ts INTEGER NOT NULL) STRICT;
INSERT INTO result_rule_ VALUES
('nvml[A-Z]*', 3, 'normal', 'this NVML, or its stand-in, does not answer that question', NULL),
('nvml[A-Z]*', 6, 'normal', 'there is no such device or object: how programs ask what there is', NULL),
('nvml[A-Z]*', 7, 'normal', 'the buffer is too small: how programs ask how much there is', NULL),
('nvml[A-Z]*', 9, 'other', 'NVML found no driver it knows', 'This is about NVIDIA''s management library, not about HIP: fade-query verdict says whether the GPU was used.');
-- ---------------------------------------------------------------- the program's own ranges; steps, waits, idle times
CREATE TABLE range_name_(id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
-- Ranges (roctx, NVTX). form: 0 push and pop, 1 start and stop, 2 a mark. depth: ranges of push and pop around it; up: the innermost of them.
-- From the return of the call that opened it (call) to the entry of the one that closed it (call_end), in thread_end. dur NULL: open, or
-- fade was killed. ended: 0 by the program, else by the end of its 1 thread, 2 process, 3 program (exec), 4 recording.
CREATE TABLE range_   (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, thread INTEGER NOT NULL, form INTEGER NOT NULL, name INTEGER NOT NULL, depth INTEGER NOT NULL,
                       up INTEGER, ts INTEGER NOT NULL, dur INTEGER, ended INTEGER NOT NULL, thread_end INTEGER, call INTEGER NOT NULL, call_end INTEGER) STRICT;
-- hist: as in call_stat_. unclosed: not ended by the program.
CREATE TABLE range_stat_(process INTEGER NOT NULL, form INTEGER NOT NULL, name INTEGER NOT NULL, n INTEGER NOT NULL, unclosed INTEGER NOT NULL, total INTEGER NOT NULL,
                         min INTEGER NOT NULL, max INTEGER NOT NULL, hist BLOB, PRIMARY KEY (process, form, name)) STRICT, WITHOUT ROWID;
CREATE TABLE range_fault_(process INTEGER NOT NULL, kind TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (process, kind)) STRICT, WITHOUT ROWID;
-- Steps by --step. idx: counts from 1 in each thread. complete: 0 if the program did not end it. A step counts calls
-- that returned in it, in its thread. It also counts calls of threads of its process without a step of their own, while
-- it was the only open step there. growth: of live GPU memory, in_calls: time of outermost calls, waited: time of calls
-- that wait for the GPU.
CREATE TABLE step_    (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, thread INTEGER NOT NULL, idx INTEGER NOT NULL, name TEXT NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL,
                       complete INTEGER NOT NULL, call INTEGER, call_end INTEGER, calls INTEGER NOT NULL, errors INTEGER NOT NULL, launches INTEGER NOT NULL, copies INTEGER NOT NULL,
                       copied INTEGER NOT NULL, growth INTEGER NOT NULL, in_calls INTEGER NOT NULL, waited INTEGER NOT NULL) STRICT;
CREATE TABLE step_stat_(step INTEGER NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL, self INTEGER NOT NULL, PRIMARY KEY (step, fn)) STRICT, WITHOUT ROWID;
-- Calls that wait for the GPU: synchronising ones, and copies that return when the data is there. caller 0: unknown. longest: call.
CREATE TABLE wait_    (process INTEGER NOT NULL, fn INTEGER NOT NULL, caller INTEGER NOT NULL, n INTEGER NOT NULL, total INTEGER NOT NULL, max INTEGER NOT NULL, longest INTEGER NOT NULL,
                       PRIMARY KEY (process, fn, caller)) STRICT, WITHOUT ROWID;
-- The longest times, at most a hundred per process, in which no thread of the process was in a GPU call. before, after:
-- calls; NULL: begin or end of the process.
CREATE TABLE idle_    (process INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, before INTEGER, after INTEGER, PRIMARY KEY (process, ts)) STRICT, WITHOUT ROWID;
-- ---------------------------------------------------------------- memory: its holders, its errors, its copies
-- memory: 0 counted as memory of the device, 1 as pinned memory of the host, NULL neither: address space only, or
-- memory of another process.
CREATE TABLE memory_kind_(id INTEGER PRIMARY KEY, name TEXT NOT NULL, memory INTEGER) STRICT;
INSERT INTO memory_kind_ VALUES (0, 'device', 0), (1, 'host', 1), (2, 'managed', 0), (3, 'registered', 1), (4, 'array', 0), (5, 'physical', 0), (6, 'reserved', NULL), (7, 'imported', NULL), (8, 'graph', 0), (9, 'mapped', NULL);
-- By the library whose code called; '*': all together; '': the calling code is in no library.
CREATE TABLE mem_holder_(device INTEGER NOT NULL, memory INTEGER NOT NULL, library TEXT NOT NULL, used INTEGER NOT NULL, peak INTEGER NOT NULL, peak_ts INTEGER NOT NULL,
                         allocs INTEGER NOT NULL, frees INTEGER NOT NULL, bytes INTEGER NOT NULL, PRIMARY KEY (device, memory, library)) STRICT, WITHOUT ROWID;
-- Frees that the runtime refused. fault: 0 freed already, 1 never allocated as far as fade saw, 2 inside an allocation,
-- 3 allocated, but refused. n: frees by that function from that caller; all other columns are of the first one. alloc,
-- call_free: of the earlier allocation and its free.
CREATE TABLE memory_fault_(id INTEGER PRIMARY KEY, process INTEGER NOT NULL, fault INTEGER NOT NULL, fn INTEGER NOT NULL, caller INTEGER, addr INTEGER NOT NULL,
                           call INTEGER NOT NULL, ts INTEGER NOT NULL, ts_last INTEGER NOT NULL, n INTEGER NOT NULL, alloc INTEGER, call_free INTEGER) STRICT;
-- The first allocations that failed for lack of memory. used: live memory of the process then; free, total: the last
-- answer of hipMemGetInfo.
CREATE TABLE oom_     (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, device INTEGER NOT NULL, memory INTEGER NOT NULL, call INTEGER NOT NULL, ts INTEGER NOT NULL,
                       fn INTEGER NOT NULL, caller INTEGER, asked INTEGER NOT NULL, used INTEGER NOT NULL, free INTEGER, total INTEGER, told_ts INTEGER) STRICT;
-- The holders of memory then. fn, caller NULL: the many small holders together.
CREATE TABLE oom_holder_(oom INTEGER NOT NULL, kind INTEGER NOT NULL, fn INTEGER, caller INTEGER, n INTEGER NOT NULL, bytes INTEGER NOT NULL, largest INTEGER NOT NULL) STRICT;
-- The answers of hipMemGetInfo, at growing intervals, and the live memory of the process then by fade's ledger.
CREATE TABLE mem_told_(device INTEGER NOT NULL, ts INTEGER NOT NULL, call INTEGER NOT NULL, free INTEGER NOT NULL, total INTEGER NOT NULL, used INTEGER NOT NULL,
                       PRIMARY KEY (device, ts)) STRICT, WITHOUT ROWID;
-- kind: hipMemcpyKind, by the addresses if the call had none, -1 fills. memory: as in copy_, 0 for NULL. bucket: 0 for
-- no bytes, else 1 + log2.
CREATE TABLE copy_size_(process INTEGER NOT NULL, fn INTEGER NOT NULL, kind INTEGER NOT NULL, memory INTEGER NOT NULL, bucket INTEGER NOT NULL, n INTEGER NOT NULL,
                        bytes INTEGER NOT NULL, max_bytes INTEGER NOT NULL, host_ns INTEGER NOT NULL, PRIMARY KEY (process, fn, kind, memory, bucket)) STRICT, WITHOUT ROWID;
-- Buffers that came back to the host and went up again between the same two addresses, 16 times or more. launches: of the process meanwhile.
CREATE TABLE copy_trip_(process INTEGER NOT NULL, device_addr INTEGER NOT NULL, host_addr INTEGER NOT NULL, bytes INTEGER NOT NULL, trips INTEGER NOT NULL,
                        launches INTEGER NOT NULL, host_ns INTEGER NOT NULL, ts INTEGER NOT NULL, ts_last INTEGER NOT NULL, call INTEGER NOT NULL,
                        PRIMARY KEY (process, device_addr, host_addr, bytes)) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- graphs, and facts about the code of kernels
-- Further launches of a call that launches several kernels.
CREATE TABLE more_launch_(call INTEGER NOT NULL, nth INTEGER NOT NULL, launch INTEGER NOT NULL, PRIMARY KEY (call, nth)) STRICT, WITHOUT ROWID;
-- A graph as it was instantiated or changed (hipGraphExec_t); kernels: number that one launch runs; complete 0: some
-- are unknown.
CREATE TABLE graph_   (id INTEGER PRIMARY KEY, process INTEGER NOT NULL, handle INTEGER NOT NULL, ts INTEGER NOT NULL, kernels INTEGER NOT NULL, complete INTEGER NOT NULL,
                       launches INTEGER NOT NULL DEFAULT 0, errors INTEGER NOT NULL DEFAULT 0, launch_ns INTEGER NOT NULL DEFAULT 0, max_ns INTEGER, first_ts INTEGER, last_ts INTEGER) STRICT;
CREATE TABLE graph_kernel_(graph INTEGER NOT NULL, kernel INTEGER NOT NULL, geometry INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (graph, kernel, geometry)) STRICT, WITHOUT ROWID;
CREATE TABLE graph_launch_(call INTEGER PRIMARY KEY, graph INTEGER NOT NULL, stream INTEGER) STRICT;
-- The facts in code objects about used kernels, for each architecture of the code; several rows if code of one name
-- differs. Registers of a work-item (vgprs, agprs) and of a wave (sgprs); bytes; wgp_mode 1: a work-group may use both
-- compute units of a work-group processor. NULL: not stated. problem: the reason if nothing is known.
CREATE TABLE kernel_code_(kernel INTEGER NOT NULL, arch TEXT, vgprs INTEGER, agprs INTEGER, sgprs INTEGER, vgpr_spills INTEGER, sgpr_spills INTEGER, lds INTEGER, scratch INTEGER,
                       kernarg INTEGER, wave_size INTEGER, max_threads INTEGER, wgp_mode INTEGER, dynamic_stack INTEGER, problem TEXT) STRICT;

-- ---------------------------------------------------------------- how processes died or hung
-- kind: signal, exit (by itself, with calls running), hang, snapshot. thread: the thread that got the signal or ended
-- the process. code, sender: of siginfo_t; NULL: unknown. address: of a fault. cause: stack (overflow), self, oom, oom?
-- if known; evidence: the evidence for it. quiet: time since a call had begun or ended.
CREATE TABLE postmortem_(id INTEGER PRIMARY KEY, session INTEGER NOT NULL, process INTEGER NOT NULL, thread INTEGER, ts INTEGER NOT NULL, kind TEXT NOT NULL, signal INTEGER, code INTEGER,
                       address INTEGER, sender INTEGER, sender_uid INTEGER, sender_name TEXT, exit_code INTEGER, quiet INTEGER, cause TEXT, evidence TEXT) STRICT;
-- doing: running, or the system call. symbol: enclosing function +offset; offset: from the module's load address.
-- earlier: calls that were running when fade attached.
CREATE TABLE postmortem_thread_(postmortem INTEGER NOT NULL, thread INTEGER NOT NULL, ts INTEGER NOT NULL, doing TEXT, module INTEGER, address INTEGER, offset INTEGER, symbol TEXT,
                       stack INTEGER, earlier TEXT, PRIMARY KEY (postmortem, thread)) STRICT, WITHOUT ROWID;
-- Calls that were running then; parent: the call around it.
CREATE TABLE postmortem_call_(postmortem INTEGER NOT NULL, call INTEGER NOT NULL, thread INTEGER NOT NULL, fn INTEGER NOT NULL, parent INTEGER, ts INTEGER NOT NULL, caller INTEGER, args TEXT,
                       PRIMARY KEY (postmortem, call)) STRICT, WITHOUT ROWID;
-- The last calls that each thread had left; also if calls have no rows.
CREATE TABLE postmortem_last_(postmortem INTEGER NOT NULL, call INTEGER NOT NULL, thread INTEGER NOT NULL, fn INTEGER NOT NULL, ts INTEGER NOT NULL, dur INTEGER NOT NULL, returned INTEGER NOT NULL,
                       result INTEGER NOT NULL, PRIMARY KEY (postmortem, call)) STRICT, WITHOUT ROWID;
CREATE TABLE postmortem_memory_(postmortem INTEGER NOT NULL, device INTEGER NOT NULL, kind INTEGER NOT NULL, used INTEGER NOT NULL, peak INTEGER NOT NULL,
                       PRIMARY KEY (postmortem, device, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE signal_name_(signal INTEGER PRIMARY KEY, name TEXT NOT NULL, meaning TEXT NOT NULL) STRICT;
INSERT INTO signal_name_ VALUES
(1, 'SIGHUP', 'its terminal was closed'), (2, 'SIGINT', 'interrupted, as by Ctrl-C'), (3, 'SIGQUIT', 'quit, as by Ctrl-\'), (4, 'SIGILL', 'invalid instruction'),
(5, 'SIGTRAP', 'breakpoint'), (6, 'SIGABRT', 'it gave up by itself: abort()'), (7, 'SIGBUS', 'memory that cannot be accessed'), (8, 'SIGFPE', 'invalid arithmetic, as a division by zero'),
(9, 'SIGKILL', 'killed'), (10, 'SIGUSR1', 'a signal between programs'), (11, 'SIGSEGV', 'invalid memory access'), (12, 'SIGUSR2', 'a signal between programs'),
(13, 'SIGPIPE', 'nobody reads what it writes'), (14, 'SIGALRM', 'a timer ran out'), (15, 'SIGTERM', 'asked to end'), (24, 'SIGXCPU', 'its limit of CPU time was reached'),
(25, 'SIGXFSZ', 'its limit of file size was reached'), (31, 'SIGSYS', 'a system call that it must not make');
-- The meaning of siginfo_t's code for a fault.
CREATE TABLE signal_code_(signal INTEGER NOT NULL, code INTEGER NOT NULL, name TEXT NOT NULL, meaning TEXT NOT NULL, PRIMARY KEY (signal, code)) STRICT, WITHOUT ROWID;
INSERT INTO signal_code_ VALUES
(11, 1, 'SEGV_MAPERR', 'nothing is mapped at that address'), (11, 2, 'SEGV_ACCERR', 'the memory at that address does not allow it'), (11, 128, 'SI_KERNEL', 'an address that no memory can have'),
(7, 1, 'BUS_ADRALN', 'an address that is not aligned'), (7, 2, 'BUS_ADRERR', 'nothing is behind that address: the file was cut, or memory has run out'), (7, 3, 'BUS_OBJERR', 'the hardware reported an error'),
(8, 1, 'FPE_INTDIV', 'a whole number was divided by zero'), (8, 2, 'FPE_INTOVF', 'a whole number became too large'), (8, 3, 'FPE_FLTDIV', 'a number was divided by zero'),
(4, 1, 'ILL_ILLOPC', 'an instruction that does not exist'), (4, 2, 'ILL_ILLOPN', 'an instruction that this processor does not have, or that is none'),
(31, 1, 'SYS_SECCOMP', 'its seccomp filter forbids that system call');
-- Functions that the compiler inlined at a native frame; depth 0 is the innermost. The frame itself is the function they are inlined in.
CREATE TABLE inline_  (frame INTEGER NOT NULL, depth INTEGER NOT NULL, name TEXT, file TEXT, line INTEGER, PRIMARY KEY (frame, depth)) STRICT, WITHOUT ROWID;
-- Rollups: calls by stack and function; bytes: allocated by them. And calls by the library that made them, '' if none.
CREATE TABLE stack_stat_(stack INTEGER NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL, total INTEGER NOT NULL, self INTEGER NOT NULL,
                       bytes INTEGER NOT NULL, first_call INTEGER NOT NULL, PRIMARY KEY (stack, fn)) STRICT, WITHOUT ROWID;
CREATE TABLE caller_stat_(process INTEGER NOT NULL, library TEXT NOT NULL, fn INTEGER NOT NULL, n INTEGER NOT NULL, errors INTEGER NOT NULL, total INTEGER NOT NULL,
                       self INTEGER NOT NULL, PRIMARY KEY (process, library, fn)) STRICT, WITHOUT ROWID;
