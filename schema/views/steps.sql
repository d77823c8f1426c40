-- The program's own ranges; steps, waits and idle times.

CREATE VIEW ranges AS
SELECT r.id, p.session, p.id AS process_id, p.pid, t.tid, n.name,
       CASE r.form WHEN 0 THEN 'range' WHEN 1 THEN 'start-stop' ELSE 'mark' END AS kind, r.depth, r.up AS parent_id,
       r.ts AS start, r.ts + r.dur AS "end", r.dur AS duration,
       CASE
         WHEN r.dur IS NULL THEN 'open'
         ELSE (CASE r.ended
                 WHEN 0 THEN 'program'
                 WHEN 1 THEN 'thread'
                 WHEN 2 THEN 'process'
                 WHEN 3 THEN 'exec'
                 ELSE 'recording' END) END AS ended_by,
       e.tid AS end_tid, r.call AS first_call_id, r.call_end AS last_call_id, r.thread AS thread_id
FROM range_ r
JOIN process_ p ON p.id = r.process
JOIN thread_ t ON t.id = r.thread
JOIN range_name_ n ON n.id = r.name
LEFT JOIN thread_ e ON e.id = r.thread_end;

-- Calls between those that open and close a range, of its thread. Ids are in order of time: a range is a range of ids.
CREATE VIEW range_calls AS
SELECT r.id AS range_id, n.name AS range_name, r.depth, c.id AS call_id, c.ts AS start, c.dur AS duration, f.name,
       c.thread AS thread_id, c.fn AS function_id
FROM range_ r
JOIN range_name_ n ON n.id = r.name
JOIN call_ c
  ON c.id > r.call AND c.id < coalesce(r.call_end, 9223372036854775807) AND c.thread = r.thread
    AND c.ts < coalesce(r.ts + r.dur, 9223372036854775807)
JOIN function_ f ON f.id = c.fn
WHERE r.form <> 2 AND f.grp <> 'marker';

CREATE VIEW range_stats AS
SELECT p.session, p.pid, n.name, CASE x.form WHEN 0 THEN 'range' WHEN 1 THEN 'start-stop' ELSE 'mark' END AS kind, x.n,
       x.unclosed, x.total AS total_ns, x.total / x.n AS avg_ns, x.min AS min_ns, x.max AS max_ns, x.hist
FROM range_stat_ x
JOIN process_ p ON p.id = x.process
JOIN range_name_ n ON n.id = x.name;

CREATE VIEW range_faults AS
SELECT p.session, p.pid, x.kind, x.n
FROM range_fault_ x
JOIN process_ p ON p.id = x.process;

-- With the names of rocpd's regions.
CREATE VIEW markers AS
SELECT id, NULL AS guid, CASE kind WHEN 'mark' THEN 'MARKER_CORE_API' ELSE 'MARKER_CORE_RANGE_API' END AS category,
       name, NULL AS nid, pid, tid, start, "end", duration, first_call_id AS event_id, NULL AS stack_id,
       parent_id AS parent_stack_id, first_call_id AS correlation_id
FROM ranges;

-- Steps with the usual duration in their thread: the median of complete steps. A step is slow if it took more than one
-- and a half times the median of three or more steps. calls_doubt, waits_doubt: the part of a step's times that may be
-- fade's cost. A time below it is 0; in_calls_ns is then the time of the waits, if that is above its own doubt.
CREATE VIEW steps AS
WITH least AS MATERIALIZED (
  SELECT l.function_id, l.least_ns, iif(l.function_id IN (SELECT fn FROM wait_), l.least_ns, 0) AS waiting_ns
  FROM least_durations l),
ranked AS (
  SELECT id, thread, dur, row_number() OVER (PARTITION BY thread ORDER BY dur) AS place,
         count(*) OVER (PARTITION BY thread) AS n
  FROM step_
  WHERE complete),
usual AS MATERIALIZED (
  SELECT thread, n, CAST(avg(dur) AS INTEGER) AS median
  FROM ranked
  WHERE place IN ((n + 1) / 2, n / 2 + 1)
  GROUP BY thread)
SELECT s.id, p.session, p.id AS process_id, p.pid, t.tid, s.idx, s.name, s.ts AS start, s.ts + s.dur AS "end",
       s.dur AS duration, s.complete, u.median AS median_ns, round(1.0 * s.dur / nullif(u.median, 0), 3) AS vs_median,
       s.complete AND u.n >= 3 AND s.dur > 1.5 * u.median AS slow, s.calls, s.errors, s.launches, s.copies,
       s.copied AS copied_bytes, s.growth AS growth_bytes,
       iif(s.in_calls < s.calls_doubt, iif(s.waited < s.waits_doubt, 0, s.waited), s.in_calls) AS in_calls_ns,
       iif(s.waited < s.waits_doubt, 0, s.waited) AS waited_ns,
       s.call AS first_call_id, s.call_end AS last_call_id, s.thread AS thread_id, r.rank
FROM (
  SELECT s.*,
         (SELECT sum(x.n * l.least_ns) FROM step_stat_ x JOIN least l ON l.function_id = x.fn WHERE x.step = s.id)
           AS calls_doubt,
         (SELECT sum(x.n * l.waiting_ns) FROM step_stat_ x JOIN least l ON l.function_id = x.fn WHERE x.step = s.id)
           AS waits_doubt
  FROM step_ s) s
JOIN process_ p ON p.id = s.process
JOIN thread_ t ON t.id = s.thread
LEFT JOIN usual u ON u.thread = s.thread
LEFT JOIN process_ranks r ON r.process_id = p.id;

CREATE VIEW step_calls AS
SELECT x.step AS step_id, f.name, c.category, x.n AS calls, x.errors,
       iif(x.self < x.n * coalesce(k.least_ns, 0), 0, x.self) AS self_ns, x.fn AS function_id
FROM step_stat_ x
JOIN function_ f ON f.id = x.fn
JOIN function_categories c ON c.function_id = x.fn
LEFT JOIN least_durations k ON k.function_id = x.fn;

CREATE VIEW waits AS
SELECT p.session, p.id AS process_id, p.pid, f.name, CASE f.kind WHEN 'sync' THEN 'sync' ELSE 'copy' END AS kind,
       s.library AS caller_library,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       w.n AS calls, iif(w.total < w.n * coalesce(k.least_ns, 0), 0, w.total) AS blocked_ns,
       w.max AS max_ns, w.longest AS longest_call_id, w.fn AS function_id
FROM wait_ w
JOIN process_ p ON p.id = w.process
JOIN function_ f ON f.id = w.fn
LEFT JOIN call_site_ s ON s.id = w.caller
LEFT JOIN least_durations k ON k.function_id = w.fn;

-- CPU time from the last sample before to the first sample after, in proportion to the share of idle time; NULL if the
-- share is below a half.
CREATE VIEW idle_times AS
WITH around AS (
  SELECT i.process, i.ts, i.dur, i.before, i.after,
         (SELECT max(c.ts) FROM cpu_sample_ c WHERE c.process = i.process AND c.ts <= i.ts) AS sample_before,
         (SELECT min(c.ts) FROM cpu_sample_ c WHERE c.process = i.process AND c.ts >= i.ts + i.dur) AS sample_after
  FROM idle_ i)
SELECT p.session, p.id AS process_id, p.pid, a.ts AS start, a.ts + a.dur AS "end", a.dur AS duration,
       a.before AS before_call_id, a.after AS after_call_id,
       CASE
         WHEN 2 * a.dur >= a.sample_after - a.sample_before
           THEN CAST(1.0 * a.dur / (a.sample_after - a.sample_before) * (
                       (SELECT c.cpu_ns FROM cpu_sample_ c WHERE c.process = a.process AND c.ts = a.sample_after) - (
                         SELECT c.cpu_ns
                         FROM cpu_sample_ c
                         WHERE c.process = a.process AND c.ts = a.sample_before)) AS INTEGER) END AS cpu_ns
FROM around a
JOIN process_ p ON p.id = a.process;
