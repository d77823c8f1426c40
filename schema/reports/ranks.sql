-- The same step on all ranks: which rank was the slowest, and what differed
-- about: A row for each step that two or more ranks of a distributed job made (fade-run --step). The slowest rank is
--   compared with one in the middle:
-- about: the category in which it spent most time more, or OUTSIDE for its own work outside of calls. On a terminal a
--   page with the ranks first.
-- sort: -more_ns
-- limit: 20
-- leave: usual_pid pid start_ns calls usual_calls name
-- none: no steps of several ranks were recorded
-- question: processes
-- topic: calls
-- record: --step 'range:*'
-- column: step         count     counts from 1 in each rank
-- column: name         text      the range, or the function between whose calls it lies
-- column: ranks        count     that made it
-- column: rank         count     the slowest of them
-- column: pid          id        its process
-- column: start_ns     time      when the slowest rank began it
-- column: duration_ns  duration  how long it took there
-- column: usual_rank   count     the rank in the middle
-- column: usual_pid    id        its process
-- column: usual_ns     duration  how long it took there
-- column: more_ns      duration  what the slowest rank took longer
-- column: category     text      where it spent most of that, as in fade-query categories, or OUTSIDE
-- column: category_ns  duration  how much longer it was there
-- column: calls        count     of that category, on the slowest rank
-- column: usual_calls  count     on the rank in the middle
WITH made AS MATERIALIZED (
  SELECT j.job, j.shift, s.* FROM steps s JOIN jobs j ON j.session = s.session WHERE s.complete AND s.rank IS NOT NULL
    /*? AND s.session = :session */ /*? AND s.name REGEXP :name */ /*? AND s.start >= :from */
    /*? AND s.start < :to */),
-- the thread of each rank that makes most of the steps
series AS (
  SELECT thread_id FROM (
    SELECT thread_id, row_number() OVER (PARTITION BY job, rank ORDER BY count(*) DESC, thread_id) AS place
    FROM made GROUP BY job, rank, thread_id)
  WHERE place = 1),
mine AS MATERIALIZED (
  SELECT m.*, row_number() OVER (PARTITION BY m.job, m.idx ORDER BY m.duration DESC, m.rank) AS place,
         count(*) OVER (PARTITION BY m.job, m.idx) AS n
  FROM made m WHERE m.thread_id IN (SELECT thread_id FROM series)),
pair AS MATERIALIZED (
  SELECT a.id, u.id AS usual_id, a.idx, a.name, a.n, a.rank, a.pid, a.start + a.shift AS start,
         a.duration, u.rank AS usual_rank, u.pid AS usual_pid, u.duration AS usual_duration,
         max(0, a.duration - a.in_calls_ns) AS outside, max(0, u.duration - u.in_calls_ns) AS usual_outside
  FROM mine a JOIN mine u ON u.job = a.job AND u.idx = a.idx AND u.place = a.n / 2 + 1
  WHERE a.place = 1 AND a.n > 1 /*? AND a.rank = :rank */),
done AS MATERIALIZED (
  SELECT x.step_id, x.category, sum(x.calls) AS calls, sum(x.self_ns) AS ns FROM step_calls x
  WHERE x.step_id IN (SELECT id FROM pair UNION SELECT usual_id FROM pair) GROUP BY x.step_id, x.category),
part AS (
  SELECT p.id, d.category, d.calls, 0 AS usual_calls, d.ns, 0 AS usual_ns FROM pair p JOIN done d ON d.step_id = p.id
  UNION ALL SELECT p.id, d.category, 0, d.calls, 0, d.ns FROM pair p JOIN done d ON d.step_id = p.usual_id
  UNION ALL SELECT id, 'OUTSIDE', NULL, NULL, outside, usual_outside FROM pair),
differs AS (
  SELECT id, category, sum(calls) AS calls, sum(usual_calls) AS usual_calls, sum(ns) - sum(usual_ns) AS more_ns,
         row_number() OVER (PARTITION BY id ORDER BY sum(ns) - sum(usual_ns) DESC, category) AS place
  FROM part GROUP BY id, category)
SELECT p.idx AS step, p.name, p.n AS ranks, p.rank, p.pid, p.start AS start_ns,
       p.duration AS duration_ns, p.usual_rank, p.usual_pid, p.usual_duration AS usual_ns,
       p.duration - p.usual_duration AS more_ns, iif(d.more_ns > 0, d.category, NULL) AS category,
       iif(d.more_ns > 0, d.more_ns, NULL) AS category_ns,
       iif(d.more_ns > 0, d.calls, NULL) AS calls, iif(d.more_ns > 0, d.usual_calls, NULL) AS usual_calls
FROM pair p LEFT JOIN differs d ON d.id = p.id AND d.place = 1
