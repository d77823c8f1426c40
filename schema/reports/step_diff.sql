-- What differed in slow steps: calls and time by category, against the usual step of the same thread
-- about: The usual step is the one in the middle when all steps of the thread are ordered by duration. Slow is more
--   than 1.5 times the
-- about: median; the ten longest of each thread are shown. OUTSIDE is the time in which the step was in no call: the
--   program's own
-- about: work on the CPU, reading data, waiting for other things than the GPU. Threads that call at the same time make
--   it smaller.
-- hidden: a variant of steps
-- leave: usual_step name tid
-- limit: 60
-- none: no step was slow
-- topic: calls
-- column: step         count     the slow step
-- column: name         text      its name
-- column: rank         count     of the process in a distributed job
-- column: tid          id        thread
-- column: usual_step   count     what it is compared with
-- column: category     text      as in fade-query categories, or OUTSIDE
-- column: calls        count     in the slow step
-- column: usual_calls  count     in the usual one
-- column: time_ns      net       in the slow step, without watched calls inside
-- column: usual_ns     net       in the usual one
-- column: more_ns      net       what the slow one took longer; less where negative; 0: under 1 µs
WITH mine AS MATERIALIZED (
  SELECT s.*, CASE WHEN complete THEN row_number() OVER (PARTITION BY thread_id,
                                                         complete ORDER BY duration, idx) END AS place,
         sum(complete) OVER (PARTITION BY thread_id) AS n
  FROM steps s WHERE true /*? AND session = :session */ /*? AND pid = :pid */
    /*? AND (session, pid) IN (SELECT session, pid FROM process_ranks WHERE rank = :rank) */
    /*? AND tid = :tid */ /*? AND name REGEXP :name */),
fade AS MATERIALIZED (SELECT session, iif(measured, calls_ns / nullif(calls, 0), 0) AS each
                      FROM slowdowns),   -- a call's cost, which lies in the step and in no call
usual AS (SELECT * FROM mine WHERE place = (n + 1) / 2),
slow AS (SELECT s.id, s.idx, s.name, s.tid, s.rank, s.duration, s.in_calls_ns + s.calls * each AS in_calls_ns,
                u.id AS usual_id, u.idx AS usual_idx, u.duration AS usual_duration,
                u.in_calls_ns + u.calls * each AS usual_in_calls
         FROM mine s JOIN usual u ON u.thread_id = s.thread_id JOIN fade ON fade.session = s.session
         WHERE s.slow AND s.place > s.n - 10),
done AS (SELECT x.step_id, x.category, sum(x.calls) AS calls, sum(x.self_ns) AS ns FROM step_calls x
         WHERE x.step_id IN (SELECT id FROM slow UNION SELECT usual_id FROM slow) GROUP BY x.step_id, x.category),
part AS (
  SELECT s.id, d.category, d.calls, 0 AS usual_calls, d.ns, 0 AS usual_ns FROM slow s JOIN done d ON d.step_id = s.id
  UNION ALL SELECT s.id, d.category, 0, d.calls, 0, d.ns FROM slow s JOIN done d ON d.step_id = s.usual_id
  UNION ALL SELECT id, 'OUTSIDE', NULL, NULL, max(0, duration - in_calls_ns),
                   max(0, usual_duration - usual_in_calls) FROM slow)
SELECT s.idx AS step, s.name, s.rank, s.tid, s.usual_idx AS usual_step, p.category,
       sum(p.calls) AS calls, sum(p.usual_calls) AS usual_calls, sum(p.ns) AS time_ns, sum(p.usual_ns) AS usual_ns,
       iif(abs(sum(p.ns) - sum(p.usual_ns)) < 1000, 0, sum(p.ns) - sum(p.usual_ns)) AS more_ns
FROM slow s JOIN part p ON p.id = s.id GROUP BY s.id, p.category ORDER BY s.duration DESC,
       s.id, more_ns DESC, p.category
