-- Every call in order of time, for other programs
-- hidden: the command of that name shows it
-- page: id
-- column: timestamp     text      wall clock at the call's entry, ISO 8601 in UTC with microseconds
-- column: timestamp_ns  id        the same in nanoseconds since 1970
-- column: function      text      name of the function
-- column: category      text      DEVICE, MEMORY, COPY, STREAM, SYNC, KERNEL, MODULE, GRAPH, COMPILE, ERROR, MARKER,
--   REDIRECT, COMM, BLAS, DNN, FFT, SPARSE, SOLVER, RAND, LOADS, DRIVER or OTHER
-- column: device_id     id        the thread's current device at entry; empty where it is not known
-- column: args          json      arguments, an object; empty where the recording lacks them
-- column: result        id        what the call returned; empty where it returned nothing or never returned
-- column: result_name   text      name of the result, where it has one
-- column: failed        json      true: the result means failure; empty where the call never returned
-- column: duration_ns   duration  time between entry and return; empty where it never returned
-- column: state         text      returned, unwound (exception, longjmp, end of thread), open (still running at the
--   end), entry only (not taken) or unseen (drops says why)
-- column: pid           id        process
-- column: tid           id        thread
-- column: id            id        of the call
-- column: parent_id     id        the watched call that made this one
-- column: api           text      hip, hiprtc, cuda ... or user
-- column: caller        text      symbol or library the call came from
-- column: session       id        of a recording with several
WITH success(type, name) AS (VALUES ('hipError_t', 'hipSuccess'), ('hiprtcResult', 'HIPRTC_SUCCESS'),
  ('CUresult', 'CUDA_SUCCESS')),
known AS MATERIALIZED (  -- where no hipSetDevice can have been missed, a thread begins with device 0
  SELECT s.id, s.start_ns, CASE WHEN s.kind = 'run'
    AND EXISTS (SELECT 1 FROM functions f WHERE f.session = s.id AND f.kind = 'set_device')
    AND NOT EXISTS (SELECT 1 FROM lifecycle l WHERE l.session = s.id
      AND l.kind = 'recording started') THEN 0 END AS device
  FROM sessions s
), about AS MATERIALIZED (
  SELECT f.id, c.category, x.name AS success FROM functions f JOIN function_categories c ON c.function_id = f.id
    LEFT JOIN success x ON x.type = f.result_type
)
SELECT strftime('%Y-%m-%dT%H:%M:%S', (k.start_ns + c.start) / 1000000000, 'unixepoch') || printf('.%06d+00:00',
  (k.start_ns + c.start) / 1000 % 1000000) AS timestamp,
       k.start_ns + c.start AS timestamp_ns, c.name AS function, a.category,
       coalesce((SELECT d.device FROM thread_devices d WHERE d.thread_id = c.thread_id AND d.call_id < c.id
         ORDER BY d.call_id DESC LIMIT 1), k.device) AS device_id,
       c.args, c.result,
         CASE c.result WHEN 0 THEN coalesce(c.result_name, a.success) ELSE c.result_name END AS result_name,
       CASE c.failed WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS failed, c.duration AS duration_ns, c.state, c.pid,
         c.tid, c.id, c.parent_id, c.category AS api,
       CASE WHEN c.caller_id IS NOT NULL THEN c.caller END AS caller, c.session
FROM calls c LEFT JOIN known k ON k.id = c.session LEFT JOIN about a ON a.id = c.function_id
WHERE true /*? AND c.start >= :from */ /*? AND c.start < :to */
  /*? AND c.session = :session */ /*? AND c.pid = :pid */
    /*? AND (c.session, c.pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */ /*? AND c.tid = :tid */
  /*? AND c.name REGEXP :name */ /*? AND instr(',' || :api || ',', ',' || c.category || ',') > 0 */
  /*?errors AND c.failed = 1 */ /*? AND c.duration >= :slower_than */
  /*?unfinished AND c.state IN ('open', 'unwound') */
