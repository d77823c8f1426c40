-- Which library each module's HIP calls go to
-- about: As read from the program's memory the last time. (not called yet): bound by the first call. The column names
--   has the functions: --format line.
-- limit: 100
-- leave: names read_ns build_id pid asked_by rocm module_path found_by
-- none: no library that was loaded has imports of HIP or CUDA
-- question: devices
-- topic: processes
-- column: module       text   program or library that calls
-- column: api          text   hip, hiprtc, cu, cudart, nvml, roctx, rocblas ...
-- column: functions    count  different functions that it imports and that are bound there
-- column: library      text   who answers; (not called yet); (not found): the module does without
-- column: version      text   in the library's file name
-- column: found_by     text   why the loader took this file: RPATH, LD_LIBRARY_PATH, RUNPATH, LD_PRELOAD, system,
--   dlopen ...
-- column: asked_by     text   who needs it, or whose RPATH or RUNPATH it was
-- column: rocm         text   release of ROCm, where file or folder tell
-- column: module_path  text   of the module
-- column: build_id     text   of the library
-- column: names        text   the functions
-- column: read_ns      time   when the module was last looked at
-- column: pid          id     process
-- column: rank         count  of the process in a distributed job
WITH rank_of AS MATERIALIZED (SELECT session, pid, max(rank) AS rank FROM process_ranks GROUP BY session, pid)
SELECT replace(module, rtrim(module, replace(module, '/', '')), '') AS module, api, functions,
       coalesce(library, iif(state = 'bound', '(memory without a file)', '(' || state || ')')) AS library,
       version, found_by, asked_by, rocm,
       module AS module_path, build_id, names, read_at AS read_ns, pid,
       (SELECT r.rank FROM rank_of r WHERE r.session = bindings.session AND r.pid = bindings.pid) AS rank
FROM bindings
WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
  /*? AND (module REGEXP :name OR library REGEXP :name) */
ORDER BY pid, module_path, api, state, functions DESC
