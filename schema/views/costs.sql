-- The cost of fade itself.

CREATE VIEW call_costs AS
SELECT session, form, calls, call_ns, call_spread AS call_spread_ns, stop_ns, stop_spread AS stop_spread_ns,
       least AS least_ns, problem
FROM call_cost_;

-- The cost of a stop beyond the time for which fade held the thread. If enough stops of the program were measured,
-- their mean holds for all, wherever they were. Else the cost is that of the measuring child, and a crossing's is
-- extra.
CREATE VIEW stop_costs AS
WITH seen AS (
  SELECT p.session, sum(c.sampled) AS sampled, sum(c.sampled_ns) AS ns
  FROM thread_cost_ c
  JOIN thread_ t ON t.id = c.thread
  JOIN process_ p ON p.id = t.process
  GROUP BY p.session),
known AS (
  SELECT j.session, j.stop_ns AS child_ns, coalesce(a.stop_ns - j.stop_ns, 0) AS crossing_ns,
         coalesce(s.sampled, 0) AS sampled,
         iif(s.sampled >= 20 AND j.run_ns > 0, s.ns / s.sampled + j.run_ns, NULL) AS mean_ns
  FROM call_cost_ j
  LEFT JOIN call_cost_ a ON a.session = j.session AND a.form = 'apart' AND a.calls > 0
  LEFT JOIN seen s ON s.session = j.session
  WHERE j.form = 'jump' AND j.calls > 0)
SELECT session, coalesce(mean_ns, child_ns) AS stop_ns, sampled, iif(mean_ns IS NULL, crossing_ns, 0) AS crossing_ns
FROM known;

-- The cost of fade for the programs of a session. Time is added up over threads; busiest is of the thread with the
-- most, life is of the programs.
CREATE VIEW slowdowns AS
WITH k AS MATERIALIZED (SELECT * FROM stop_costs),
stop AS (
  SELECT o.session, sum(iif(o.fn = 0, 0, o.stops)) AS call_stops, sum(iif(o.fn = 0, 0, o.held_ns)) AS call_held,
         sum(o.stops) AS stops, sum(o.held_ns) AS held_ns
  FROM overhead_ o
  GROUP BY o.session),
thread AS (
  SELECT p.session, count(*) AS threads, sum(c.crossed * coalesce(k.crossing_ns, 0)) AS crossings_ns,
         max(c.held_ns + c.stops * coalesce(k.stop_ns, 0) + c.crossed * coalesce(k.crossing_ns, 0)) AS busiest_ns
  FROM thread_cost_ c
  JOIN thread_ t ON t.id = c.thread
  JOIN process_ p ON p.id = t.process
  LEFT JOIN k ON k.session = p.session
  GROUP BY p.session),
life AS (
  SELECT session, max(coalesce(ts_end, 0)) AS until, min(ts) AS began, sum(ts_end IS NULL) AS running
  FROM process_
  GROUP BY session),
call AS (
  SELECT p.session, sum(x.n) AS calls, sum(x.tapped) AS tapped, sum(x.counted) AS counted
  FROM call_stat_ x
  JOIN thread_ t ON t.id = x.thread
  JOIN process_ p ON p.id = t.process
  GROUP BY p.session)
SELECT s.id AS session, coalesce(c.calls, 0) AS calls, coalesce(c.tapped + c.counted, 0) AS tapped,
       coalesce(c.tapped * a.stop_ns, 0) + coalesce(c.counted * g.stop_ns, 0) AS taps_ns,
       coalesce(t.threads, 0) AS threads, coalesce(x.stops, 0) AS stops,
       coalesce(x.held_ns, 0) AS held_ns,
       coalesce(x.call_held + x.call_stops * coalesce(k.stop_ns, 0), 0) + coalesce(t.crossings_ns, 0) AS calls_ns,
       coalesce(x.held_ns - x.call_held + (x.stops - x.call_stops) * coalesce(k.stop_ns, 0), 0) AS other_ns,
       coalesce(t.busiest_ns, 0) AS busiest_ns,
       nullif(max(iif(l.running > 0, coalesce(s.end_ns - s.start_ns, l.until), l.until) - l.began, 0), 0) AS life_ns,
       k.stop_ns IS NOT NULL AS measured
FROM session_ s
LEFT JOIN k ON k.session = s.id
LEFT JOIN stop x ON x.session = s.id
LEFT JOIN thread t ON t.session = s.id
LEFT JOIN life l ON l.session = s.id
LEFT JOIN call c ON c.session = s.id
LEFT JOIN call_cost_ a ON a.session = s.id AND a.form = 'tap'
LEFT JOIN call_cost_ g ON g.session = s.id AND g.form = 'gate';

CREATE VIEW overhead AS
WITH call AS (
  SELECT fn, sum(n) AS calls, sum(tapped) AS tapped, sum(counted) AS counted
  FROM call_stat_
  GROUP BY fn)
SELECT o.session, coalesce(f.name, '(other stops)') AS name, o.stops, o.held_ns,
       CASE WHEN o.stops > 0 THEN o.held_ns / o.stops END AS per_stop_ns,
       o.held_ns + o.stops * k.stop_ns + coalesce(c.tapped * t.stop_ns, 0)
       + coalesce(c.counted * g.stop_ns, 0) AS cost_ns,
       c.calls, c.tapped + c.counted AS tapped
FROM overhead_ o
LEFT JOIN function_ f ON f.id = o.fn
LEFT JOIN call c ON c.fn = o.fn
LEFT JOIN stop_costs k ON k.session = o.session
LEFT JOIN call_cost_ t ON t.session = o.session AND t.form = 'tap'
LEFT JOIN call_cost_ g ON g.session = o.session AND g.form = 'gate';
