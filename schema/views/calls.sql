-- Each call, and calls added up by function, caller and second.

CREATE VIEW calls AS
SELECT c.id, p.session, c.ts AS start, c.ts + c.dur AS "end", c.dur AS duration, p.pid, t.tid, f.api AS category,
       f.name, c.id - c.up AS parent_id,
       CASE WHEN c.dur IS NULL OR f.result_type = 'void' THEN NULL ELSE coalesce(c.result, 0) END AS result,
       CASE WHEN c.dur IS NULL THEN NULL ELSE r.name END AS result_name,
       CASE WHEN c.dur IS NULL THEN NULL ELSE coalesce(r.failed, 0) END AS failed,
       CASE
         WHEN c.dur IS NOT NULL THEN 'returned'
         WHEN u.ts_end = -1 THEN 'entry only'
         WHEN u.ts_end IS NOT NULL THEN 'unwound'
         WHEN u.call IS NOT NULL THEN 'unseen'
         ELSE 'open' END AS state,
       c.caller AS caller_id,
       coalesce(s.symbol, s.library || '+' || iif(s.offset IS NULL, NULL, printf('0x%x', s.offset)),
                iif(s.address IS NULL, NULL, printf('0x%x', s.address))) AS caller,
       s.library AS caller_library, a.args, c.thread AS thread_id, c.fn AS function_id, c.launch AS launch_id, k.stack
FROM call_ c
JOIN thread_ t ON t.id = c.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = c.fn
LEFT JOIN unwound_ u ON u.call = c.id
LEFT JOIN result_name_ r ON r.fn = c.fn AND r.code = c.result
LEFT JOIN call_site_ s ON s.id = c.caller
LEFT JOIN arg_ a ON a.call = c.id
LEFT JOIN call_stack_ k ON k.call = c.id;

CREATE VIEW arg_blocks AS
SELECT b.id, f.session, b.fn AS function_id, f.name, b.first AS first_call, b.last AS last_call, b.n AS calls,
       length(b.data) AS bytes
FROM arg_block_ b
JOIN function_ f ON f.id = b.fn;

CREATE VIEW arguments_kept AS
SELECT s.id AS session, s.calls, s.as_text, s.packed, s.calls - s.as_text - s.packed AS missing
FROM (
  SELECT r.id, (SELECT count(*) FROM call_ c WHERE c.id > r.before AND c.id <= r.last) AS calls,
         (SELECT count(*)
          FROM arg_ a
          WHERE a.call > r.before AND a.call <= r.last AND a.call IN (SELECT id FROM call_)) AS as_text,
         (SELECT coalesce(sum(b.n), 0)
          FROM arg_block_ b
          JOIN function_ f ON f.id = b.fn
          WHERE f.session = r.id) AS packed
  FROM (
    SELECT x.id, coalesce((SELECT max(y.last_call) FROM session_ y WHERE y.id < x.id), 0) AS before,
           CASE WHEN x.id = (SELECT max(id) FROM session_) THEN 9223372036854775807 ELSE x.last_call END AS last
    FROM session_ x) r) s;

CREATE VIEW call_rate AS
SELECT f.session, b.sec, b.fn AS function_id, f.name, b.n AS calls,
       iif(b.total < b.n * coalesce(k.least, 0), 0, b.total) AS total_ns,
       b.first_call AS first_call_id
FROM call_bucket_ b
JOIN function_ f ON f.id = b.fn
LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump';

CREATE VIEW call_stats AS
WITH least AS (
  SELECT s.id AS session, coalesce(k.least, 0) AS stopped, coalesce(t.call_spread, 0) AS tapped
  FROM session_ s
  LEFT JOIN call_cost_ k ON k.session = s.id AND k.form = 'jump'
  LEFT JOIN call_cost_ t ON t.session = s.id AND t.form = 'tap')
SELECT p.session, p.pid, t.tid, x.thread AS thread_id, x.fn AS function_id, f.api AS category, f.name,
       x.parent_fn AS parent_function_id, pf.name AS parent, x.n AS calls, x.errors,
       -- Where fade's cost of the calls inside was estimated too high, self is right and total too small.
       iif(x.max IS NULL, NULL,
           max(iif(x.total < (x.n - x.counted - x.tapped) * k.stopped + x.tapped * k.tapped, 0, x.total),
               iif(x.self < (x.n - x.counted - x.tapped) * k.stopped + x.tapped * k.tapped, 0, x.self))) AS total_ns,
       iif(x.max IS NULL, NULL,
           iif(x.self < (x.n - x.counted - x.tapped) * k.stopped + x.tapped * k.tapped, 0, x.self)) AS self_ns,
       iif(x.min < iif(x.tapped > 0, k.tapped, k.stopped), 0, x.min) AS min_ns,
       iif(x.max < iif(x.tapped > 0, k.tapped, k.stopped), 0, x.max) AS max_ns, x.hist, x.leaves AS leaf_calls,
       iif(x.max IS NULL, NULL, x.total + x.cost) AS raw_total_ns,
       ((x.n - x.counted - x.tapped) * k.stopped + x.tapped * k.tapped) / max(x.n - x.counted, 1) AS least_ns,
         x.tapped AS tapped_calls, x.counted AS counted_calls
FROM call_stat_ x
JOIN thread_ t ON t.id = x.thread
JOIN process_ p ON p.id = t.process
JOIN function_ f ON f.id = x.fn
LEFT JOIN function_ pf ON pf.id = x.parent_fn
LEFT JOIN least k ON k.session = p.session;

-- The shortest mean duration of a function that can be told from fade's cost. The cost of taps is known better than
-- that of stops.
CREATE VIEW least_durations AS
SELECT f.session, x.fn AS function_id,
       (sum(x.n - x.counted - x.tapped) * coalesce(k.least, 0) + sum(x.tapped) * coalesce(t.call_spread, 0))
         / max(sum(x.n - x.counted), 1) AS least_ns
FROM call_stat_ x
JOIN function_ f ON f.id = x.fn
LEFT JOIN call_cost_ k ON k.session = f.session AND k.form = 'jump'
LEFT JOIN call_cost_ t ON t.session = f.session AND t.form = 'tap'
GROUP BY x.fn;

CREATE VIEW top AS
WITH f AS (
  SELECT session, name, category, sum(calls) AS calls, sum(errors) AS errors, sum(total_ns) AS total_ns,
         sum(self_ns) AS self_ns, min(min_ns) AS min_ns, max(max_ns) AS max_ns,
         sum(calls - counted_calls) AS seen
  FROM call_stats
  GROUP BY function_id)
SELECT session, name, category, calls, errors, total_ns, self_ns, total_ns / nullif(seen, 0) AS avg_ns, min_ns, max_ns,
       round(100.0 * self_ns / nullif((SELECT sum(self_ns) FROM f), 0), 2) AS percent
FROM f
ORDER BY total_ns DESC;

CREATE VIEW flow AS
WITH own AS MATERIALIZED (
  SELECT function_id, sum(calls) AS calls, sum(self_ns) AS self_ns
  FROM call_stats
  GROUP BY function_id)
SELECT x.session, pf.api AS caller_api, x.parent AS caller, x.category AS callee_api, x.name AS callee,
       sum(x.calls) AS calls, sum(x.total_ns) AS total_ns, o.calls AS caller_calls, o.self_ns AS caller_self_ns
FROM call_stats x
JOIN function_ pf ON pf.id = x.parent_function_id
LEFT JOIN own o ON o.function_id = x.parent_function_id
GROUP BY x.parent_function_id, x.function_id;

CREATE VIEW caller_stats AS
SELECT p.session, p.pid, x.process AS process_id, nullif(x.library, '') AS library, f.api AS category, f.name,
       x.fn AS function_id, x.n AS calls, x.errors,
       max(iif(x.total < x.n * coalesce(k.least, 0), 0, x.total), iif(x.self < x.n * coalesce(k.least, 0), 0, x.self))
         AS total_ns,
       iif(x.self < x.n * coalesce(k.least, 0), 0, x.self) AS self_ns
FROM caller_stat_ x
JOIN process_ p ON p.id = x.process
JOIN function_ f ON f.id = x.fn
LEFT JOIN call_cost_ k ON k.session = p.session AND k.form = 'jump';

-- The first matching rule gives a function its category; NULL matches anything.
CREATE VIEW function_categories AS
WITH rule(n, api, kind, grp, category) AS (
  VALUES
    (1, 'cuda', NULL, NULL, 'REDIRECT'), (2, 'cudart', NULL, NULL, 'REDIRECT'), (3, 'nvml', NULL, NULL, 'REDIRECT'),
    (10, NULL, 'launch', NULL, 'KERNEL'), (11, NULL, 'copy', NULL, 'COPY'), (12, NULL, 'set', NULL, 'COPY'),
    (13, NULL, 'alloc', NULL, 'MEMORY'), (14, NULL, 'free', NULL, 'MEMORY'), (15, NULL, 'host_alloc', NULL, 'MEMORY'),
    (16, NULL, 'host_free', NULL, 'MEMORY'), (17, NULL, 'stream_create', NULL, 'STREAM'),
    (18, NULL, 'stream_destroy', NULL, 'STREAM'), (19, NULL, 'event', NULL, 'STREAM'), (20, NULL, 'sync', NULL, 'SYNC'),
    (21, NULL, 'set_device', NULL, 'DEVICE'), (22, NULL, 'get_device', NULL, 'DEVICE'),
    (23, NULL, 'device_query', NULL, 'DEVICE'), (24, NULL, 'module_load', NULL, 'MODULE'),
    (25, NULL, 'get_function', NULL, 'MODULE'), (26, NULL, 'register', NULL, 'MODULE'),
    (27, NULL, 'error', NULL, 'ERROR'), (28, NULL, 'graph', NULL, 'GRAPH'), (40, 'hiprtc', NULL, NULL, 'COMPILE'),
    (50, NULL, NULL, 'mem', 'MEMORY'), (51, NULL, NULL, 'pointer', 'MEMORY'), (52, NULL, NULL, 'texture', 'MEMORY'),
    (53, NULL, NULL, 'copy', 'COPY'), (54, NULL, NULL, 'sync', 'SYNC'), (55, NULL, NULL, 'stream', 'STREAM'),
    (56, NULL, NULL, 'event', 'STREAM'), (57, NULL, NULL, 'kernel', 'KERNEL'), (58, NULL, NULL, 'config', 'KERNEL'),
    (59, NULL, NULL, 'module', 'MODULE'), (60, NULL, NULL, 'register', 'MODULE'), (61, NULL, NULL, 'device', 'DEVICE'),
    (62, NULL, NULL, 'graph', 'GRAPH'), (63, NULL, NULL, 'error', 'ERROR'), (64, NULL, NULL, 'marker', 'MARKER'),
    (70, NULL, NULL, 'comm', 'COMM'), (71, NULL, NULL, 'blas', 'BLAS'), (72, NULL, NULL, 'dnn', 'DNN'),
    (73, NULL, NULL, 'fft', 'FFT'), (74, NULL, NULL, 'sparse', 'SPARSE'), (75, NULL, NULL, 'solver', 'SOLVER'),
    (76, NULL, NULL, 'rand', 'RAND'), (77, NULL, NULL, 'loads', 'LOADS'),
    (78, NULL, NULL, 'driver', 'DRIVER'), (99, NULL, NULL, NULL, 'OTHER'))
SELECT f.id AS function_id, f.session, f.name,
       (SELECT r.category
        FROM rule r
        WHERE coalesce(r.api, f.api) = f.api AND coalesce(r.kind, f.kind) = f.kind AND coalesce(r.grp, f.grp) = f.grp
        ORDER BY r.n
        LIMIT 1) AS category
FROM function_ f;
