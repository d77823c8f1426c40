-- The longest times without work of a GPU, and what the host did meanwhile
-- about: Between two works of a device, on whatever queue. At most a hundred of each device are kept. The host is the
--   thread that put the next work to run.
-- about: cause: launch: it was in that launch, or began it right after its launch before; sync, copy: it had waited for
--   the GPU in such a call; host: it did something else;
-- about: queued: the next work had been put to run before; unknown: the next work is tied to no call, or the host
--   waited for another device.
-- sort: -duration_ns
-- limit: 20
-- leave: end_ns pid before asked_ns during_percent after
-- none: no GPU was idle between two works that have a time
-- question: work
-- topic: kernels
-- record: --gpu-times
-- column: pid             id        process
-- column: device          id        ordinal of the device; empty: not known
-- column: start_ns        time      end of the work before
-- column: end_ns          time      begin of the next work
-- column: duration_ns     duration  between them
-- column: cause           text      launch, sync, copy, host, queued or unknown
-- column: during          text      function in which the host spent most of it; (no call seen): most of it was outside
--   of recorded calls
-- column: during_percent  percent   of the time, in that function, or outside of calls
-- column: asked_ns        duration  from putting the next work to run to its begin; empty: not known
-- column: before          text      function that put the work before to run
-- column: after           text      function that put the next work to run
-- column: line            text      your own line (--skip-frames) of that function's longest call meanwhile; of the
--   call that put the next work to run, if no function took most of the time or its stack was not recorded
WITH mine AS MATERIALIZED (
  SELECT * FROM gpu_idle WHERE true /*? AND session = :session */ /*? AND pid = :pid */ /*? AND device = :device */
    /*? AND "end" > :from */ /*? AND start < :to */),
meant AS MATERIALIZED (
  SELECT i.process_id, i.device_id, i.start, i."end", c.thread, min(i.before_call_id, i.after_call_id) AS low,
         max(i.before_call_id, i.after_call_id) AS high, i.wait_call_id
  FROM mine i JOIN call_ c ON c.id = i.after_call_id),
meanwhile AS (
  SELECT m.process_id, m.device_id, m.start, m."end", c.id, c.fn, c.ts, c.dur
  FROM meant m CROSS JOIN call_ c ON c.id BETWEEN m.low AND m.high AND +c.thread = m.thread AND c.up IS NULL
  UNION
  SELECT m.process_id, m.device_id, m.start, m."end", c.id, c.fn, c.ts, c.dur
  FROM meant m JOIN call_ c ON c.id = m.wait_call_id AND c.up IS NULL),
spent AS (
  SELECT process_id, device_id, start, id, fn, min("end", coalesce(ts + dur, "end")) - max(start, ts) AS ns
  FROM meanwhile WHERE ts < "end" AND coalesce(ts + dur, "end") > start),
by_function AS MATERIALIZED (
  SELECT s.process_id, s.device_id, s.start, f.name, sum(s.ns) AS ns, s.id, max(s.ns) AS longest
  FROM spent s JOIN function_ f ON f.id = s.fn GROUP BY s.process_id, s.device_id, s.start, f.name),
most AS MATERIALIZED (
  SELECT process_id, device_id, start, sum(ns) OVER w AS all_ns, name, ns, id,
         row_number() OVER (PARTITION BY process_id, device_id, start ORDER BY ns DESC) AS place
  FROM by_function WINDOW w AS (PARTITION BY process_id, device_id, start))
SELECT i.pid, i.device, i.start AS start_ns, i."end" AS end_ns, i.duration AS duration_ns, i.cause,
       CASE WHEN i.after_call_id IS NULL THEN '(not known)' WHEN b.id IS NULL THEN '(not stored)'
            WHEN m.name IS NULL OR 2 * m.all_ns < i.duration
            THEN iif(n.lacks_rows, '(not stored)', '(no call seen)') ELSE m.name END AS during,
       CASE WHEN b.id IS NULL OR (n.lacks_rows AND (m.name IS NULL OR 2 * m.all_ns < i.duration)) THEN NULL
            WHEN m.name IS NULL OR 2 * m.all_ns < i.duration
            THEN round(100.0 * (i.duration - coalesce(m.all_ns, 0)) / i.duration, 1)
            ELSE round(100.0 * m.ns / i.duration, 1) END AS during_percent,
       i."end" - i.asked AS asked_ns,
       (SELECT f.name FROM call_ c JOIN function_ f ON f.id = c.fn WHERE c.id = i.before_call_id) AS before,
       (SELECT f.name FROM function_ f WHERE f.id = b.fn) AS after,
       coalesce((SELECT u.file_line FROM call_stack_ k JOIN user_lines u ON u.stack = k.stack
                 WHERE k.call = m.id AND 2 * m.all_ns >= i.duration),
                (SELECT u.file_line FROM call_stack_ k JOIN user_lines u ON u.stack = k.stack
                 WHERE k.call = i.after_call_id)) AS line
FROM mine i
JOIN (SELECT id, instr(detail, 'stats') > 0 AS lacks_rows FROM sessions) n ON n.id = i.session
LEFT JOIN call_ b ON b.id = i.after_call_id
LEFT JOIN most m ON m.process_id = i.process_id AND m.device_id = i.device_id AND m.start = i.start AND m.place = 1
