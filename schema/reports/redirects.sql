-- Which library answers: what the imports of each module are bound to
-- about: As the program's memory said when it was last looked at. "not called yet": bound at the first call (lazy binding). The names stand in the column names.
-- sort: module
-- limit: 100
-- leave: names read_ns build_id pid asked_by rocm version found_by
-- column: module     text   program or library that calls
-- column: api        text   hip, hiprtc, cu, cudart, nvml, roctx, rocblas ...
-- column: functions  count  different functions that it imports and that are bound there
-- column: library    text   who answers; empty: nobody, see state
-- column: version    text   in the library's file name
-- column: state      text   bound, not called yet, or not found (weak: the module does without)
-- column: found_by   text   why the loader took this file: RPATH, LD_LIBRARY_PATH, RUNPATH, LD_PRELOAD, system, dlopen ...
-- column: asked_by   text   who needs it, or whose RPATH or RUNPATH it was
-- column: rocm       text   release of ROCm, where file or folder tell
-- column: build_id   text   of the library
-- column: names      text   the functions
-- column: read_ns    time   when the module was last looked at
-- column: pid        id     process
SELECT module, api, functions, library, version, state, found_by, asked_by, rocm, build_id, names, read_at AS read_ns, pid
FROM bindings
WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND (module REGEXP :name OR library REGEXP :name) */
ORDER BY pid, module, api, state, functions DESC
